"""Labelled pairs of a wanted similarity: real texts edited until their true Jaccard similarity is what was asked for.

`python -m bench.quality.dedup_pairs TEXTS.jsonl OUT.jsonl [--pages 200] [--seed 1] [--duplicate 0.75]` reads texts
(JSON lines with the field `text`), and writes pairs {a, b, duplicate, jaccard, edit} for `gristmill dataset duplicates
eval`. Three edits take turns: single words replaced, a block cut out, a block of another text put in. `duplicate` is
true from the similarity `--duplicate` up. `dedup_stream.py` makes a stream as the web would; here every similarity has
pairs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from bench.quality.shingles import shingles
from crawler.config import DedupConfig
from crawler.stages.text.units import tokens

TARGETS = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
TOLERANCE = 0.01
Words = list[str]
Edit = Callable[[Words, Words, float, int], Words]
"""(words, words of another text, how hard from 0 to 1, seed) -> edited words; harder never leaves more in common."""


def words_replaced(words: Words, other: Words, share: float, seed: int) -> Words:
    """Single words, in an order that the seed fixes, by words of another text."""
    order = list(range(len(words)))
    random.Random(seed).shuffle(order)
    changed = dict.fromkeys(order[: round(share * len(words))])
    return [other[at % len(other)] if at in changed else word for at, word in enumerate(words)]


def block_cut(words: Words, _other: Words, share: float, seed: int) -> Words:
    """A run of words that begins somewhere in the text and wraps around."""
    size, start = round(share * len(words)), random.Random(seed).randrange(len(words))
    gone = {at % len(words) for at in range(start, start + size)}
    return [word for at, word in enumerate(words) if at not in gone]


def block_added(words: Words, other: Words, share: float, seed: int) -> Words:
    """A run of another text, up to three times the length of this one, put in somewhere."""
    size, start = round(share * 3 * len(words)), random.Random(seed).randrange(len(words))
    return [*words[:start], *(other * (1 + size // len(other)))[:size], *words[start:]]


EDITS: tuple[Edit, ...] = (words_replaced, block_cut, block_added)


def similarity(left: str, right: str, size: int) -> float:
    """Jaccard similarity of the shingles, from the sets themselves."""
    a, b = (_shingles(text, size) for text in (left, right))
    return len(a & b) / max(1, len(a | b))


def _shingles(text: str, size: int) -> set[str]:
    units, joiner, factor = tokens(text)
    return shingles(units, joiner, size * factor)


def edited(words: Words, other: Words, target: float, edit: Edit, seed: int, size: int) -> tuple[str, float] | None:
    """The text edited down to the target similarity, give or take `TOLERANCE`; None where no share gives it."""
    original, low, high = " ".join(words), 0.0, 1.0
    for _ in range(14):
        share = (low + high) / 2
        text = " ".join(edit(words, other, share, seed))
        found = similarity(original, text, size)
        if abs(found - target) <= TOLERANCE:
            return text, found
        low, high = (share, high) if found > target else (low, share)
    return None


def pairs(texts: list[str], seed: int, duplicate: float) -> Iterator[dict[str, object]]:
    """Every text once for every target, the edits taking turns."""
    size = DedupConfig().shingle_words
    for number, text in enumerate(texts):
        words, other = text.split(), texts[(number + 1 + seed) % len(texts)].split()
        for turn, target in enumerate(TARGETS):
            edit = EDITS[(number + turn) % len(EDITS)]
            made = edited(words, other, target, edit, seed * 1_000_003 + number, size)
            if made is not None:
                yield {
                    "a": " ".join(words),
                    "b": made[0],
                    "duplicate": made[1] >= duplicate,
                    "jaccard": round(made[1], 4),
                    "edit": edit.__name__,
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--duplicate", type=float, default=0.75)
    options = parser.parse_args()
    texts = [str(orjson.loads(line)["text"]) for line in options.texts.read_bytes().splitlines()]
    long = sorted({text for text in texts if 150 <= len(text.split()) <= 2_000})
    chosen = random.Random(options.seed).sample(long, min(options.pages, len(long)))
    count = 0
    with options.out.open("wb") as out:
        for pair in pairs(chosen, options.seed, options.duplicate):
            out.write(orjson.dumps(pair) + b"\n")
            count += 1
    print(f"{count} pairs of {len(chosen)} texts")


if __name__ == "__main__":
    main()
