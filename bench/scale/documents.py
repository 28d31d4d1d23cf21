"""Made documents for the duplicate rules: their signatures and digests, of every kind that real sets have.

single, star (edits of one text), chain (each like the one before), template (many of one text), exact (copies), and
among all of them byte-identical copies, later versions of a page with the same or with another text, and short texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Signature = NDArray[np.uint32]


class Made(NamedTuple):
    """The arguments of `DedupIndex.check`."""

    doc_id: str
    signature: bytes
    shingles: int
    owner: str


def mixed(
    count: int, seed: int = 7, *, width: int = 120, drift: int | None = None, template: int | None = None
) -> list[Made]:
    """So many documents of every kind, in an order that mixes them.

    drift: texts of the long chain; template: pages of the large template; width: positions of a signature.
    """
    rng = np.random.default_rng(seed)
    found: list[Made] = []
    large = [
        ("template", count // 20 if template is None else template),
        ("chain", min(400, count // 50) if drift is None else drift),
    ]
    while len(found) < count:
        kind, size = large.pop() if large else _kind(rng)
        found += _cluster(rng, kind, min(size, count - len(found)), len(found), width)
    order = np.argsort(np.arange(count) + rng.normal(0, count / 5, count))
    return [found[place] for place in order.tolist()]


def chain(count: int, seed: int = 7, *, width: int = 120) -> list[Made]:
    """Texts each of which is like the one before, and not like the one before that; in their order."""
    return list(_cluster(np.random.default_rng(seed), "chain", count, 0, width, plain=True))


def template(count: int, seed: int = 7, *, width: int = 120) -> list[Made]:
    """Pages of one template: the first stays; of the others nine of ten are like it, the rest share a band only."""
    rng, base = np.random.default_rng(seed), _fresh(np.random.default_rng(seed), width)
    return [_made(_like(rng, base, 0.95 if n % 10 else 0.6), n, f"https://template.example/{n}") for n in range(count)]


def _kind(rng: np.random.Generator) -> tuple[str, int]:
    chance = rng.random()
    if chance < 0.8:
        return "single", 1
    if chance < 0.95:
        return "star", 2 + int(rng.pareto(1.3) * 2)
    if chance < 0.985:
        return "chain", 2 + int(rng.pareto(1.2) * 3)
    return "exact", 2 + int(rng.pareto(1.1) * 3)


def _cluster(
    rng: np.random.Generator, kind: str, size: int, first: int, width: int, *, plain: bool = False
) -> Iterator[Made]:
    base = previous = _fresh(rng, width)
    last: Made | None = None
    shingles = 30 if not plain and rng.random() < 0.1 else 10 if not plain and rng.random() < 0.05 else 500
    for number in range(first, first + size):
        owner = f"https://h{first}.example/{number}"
        chance = 1.0 if last is None or plain else rng.random()
        if last is not None and chance < 0.05:
            owner = last.owner  # a later version of the same page
        if last is not None and (kind == "exact" or 0.03 < chance < 0.15):
            last = last._replace(owner=owner)
        elif last is not None and chance < 0.01:
            last = _made(previous, number, owner, shingles)  # other words, the same signature
        else:
            similar = 0.9 if plain else rng.uniform(0.62, 0.99)
            previous = base if last is None else _like(rng, previous if kind == "chain" else base, similar)
            last = _made(previous, number, owner, shingles)
        yield last


def _fresh(rng: np.random.Generator, width: int) -> Signature:
    return rng.integers(0, 2**32, width, dtype=np.uint32)


def _like(rng: np.random.Generator, base: Signature, similar: float) -> Signature:
    changed = rng.random(len(base)) >= similar
    found = base.copy()
    found[changed] = rng.integers(0, 2**32, int(changed.sum()), dtype=np.uint32)
    return found


def _made(signature: Signature, number: int, owner: str, shingles: int = 500) -> Made:
    data = signature.astype("<u4").tobytes()
    return Made(f"sha256:{hashlib.sha256(data + b'%d' % number).hexdigest()}", data, shingles, owner)
