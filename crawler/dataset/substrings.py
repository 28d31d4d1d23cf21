"""`gristmill dataset substrings`: passages that stand more than once in the kept texts, listed or cut out.

Licence headers, disclaimers, cookie texts: what dedup of whole documents cannot see. The first occurrence stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.dataset.cuts import Span, rejection, without
from crawler.dataset.living import Living
from crawler.dataset.pages import identity
from crawler.dataset.rewrite import Decision, Rejection, Rewritten, rewrite
from crawler.dataset.suffixes import Ints, Passage, Passages, Repeats
from crawler.dataset.versions import Cause
from crawler.dataset.word_rows import Row
from crawler.document import Drop, DropReason
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record

STAGE = "substrings"
BYTES_A_WORD = 60
"""Memory a word of the corpus takes while its block is searched (measured: `python -m bench.speed.substrings`)."""
EXAMPLE_WORDS = 40
TOP = 10


@dataclass(frozen=True, slots=True)
class Found:
    """One repeated passage. words: its length; times: occurrences; surplus: words that could go."""

    words: int
    times: int
    documents: int
    domains: dict[str, int]  # occurrences by domain, most first
    surplus: int
    first_url: str
    example: str


@dataclass(slots=True)
class Findings:
    """What a search saw, all counts in words. blocks: a passage repeated only across two blocks is not found."""

    min_tokens: int
    documents: int = 0
    words: int = 0
    repeated: int = 0
    surplus: int = 0
    passages: int = 0
    touched: int = 0
    blocks: int = 0
    widest: list[Found] = field(default_factory=list)  # most words to save
    longest: list[Found] = field(default_factory=list)
    most_frequent: list[Found] = field(default_factory=list)
    cuts: dict[bytes, list[Span]] = field(default_factory=dict)  # by identity of the record

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types, without the cuts."""
        names = ("min_tokens", "documents", "words", "repeated", "surplus", "passages", "touched", "blocks")
        lists = {name: [_plain(f) for f in getattr(self, name)] for name in ("widest", "longest", "most_frequent")}
        return {name: getattr(self, name) for name in names} | lists


def find(place: Place, *, min_tokens: int, memory: int, top: int = TOP) -> Findings:
    """Search the kept texts for passages of `min_tokens` words or more that stand more than once.

    memory: bytes that one block may take; a corpus that needs more is searched in several.
    Raises: StorageError where there is no corpus or a file is damaged.
    """
    findings = Findings(min_tokens)
    row, names, seen = Row(), list[bytes](), set[bytes]()
    for record in Living(place).kept():
        if (name := identity(record)) in seen:  # one record twice repeats nothing
            continue
        if len(row) * BYTES_A_WORD >= memory:
            _search(row, names, findings, top)
            row, names = Row(), []
        row.add(record["url"], record.get("domain") or "", record["text"])
        names.append(name)
        seen.add(name)
    _search(row, names, findings, top)
    return findings


def remove(place: Place, findings: Findings, *, min_words: int, now: float, keep_old: bool = True) -> Rewritten:
    """Cut the surplus out of the corpus that `findings` is about; a new version with its lineage.

    A document of which fewer than `min_words` words are left is rejected as too short.
    Raises: StorageError as `rewrite`.
    """

    def decide(record: Record) -> Decision:
        if not (cuts := findings.cuts.get(identity(record))):
            return record
        left = without(record, cuts)
        if left["word_count"] >= min_words:
            return left
        detail = f"{left['word_count']} words without repeated passages, needs {min_words}"
        return Rejection(rejection(record, Drop(STAGE, DropReason.TOO_SHORT, detail)))

    reason = f"passages of {findings.min_tokens} words or more that occur more than once; the first occurrence stays"
    return rewrite(place, decide, Cause("dataset substrings --remove", reason, now, keep_old))


def _search(row: Row, names: Sequence[bytes], findings: Findings, top: int) -> None:
    """Search one block and add what it holds."""
    if not len(row):
        return
    repeats = Repeats(row.tokens(), findings.min_tokens)
    surplus = repeats.surplus()
    cut = {names[number]: spans for number, spans in _cuts(row, surplus).items()}
    passages = repeats.passages()
    findings.blocks += 1
    findings.documents += len(row.urls)
    findings.words += len(row) - len(row.urls)
    findings.repeated += int(repeats.covered().sum())
    findings.surplus += int(surplus.sum())
    findings.passages += len(passages)
    findings.touched += len(cut)
    findings.cuts |= cut
    for name, value in (
        ("widest", (passages.counts - 1) * passages.lengths),
        ("longest", passages.lengths),
        ("most_frequent", passages.counts),
    ):
        found = [*getattr(findings, name), *_best(row, repeats, passages, value, top)]
        setattr(findings, name, sorted(found, key=_RANKS[name])[:top])


_RANKS: dict[str, Callable[[Found], tuple[int, int]]] = {
    "widest": lambda found: (-found.surplus, -found.words),
    "longest": lambda found: (-found.words, -found.times),
    "most_frequent": lambda found: (-found.times, -found.words),
}


def _best(row: Row, repeats: Repeats, passages: Passages, value: Ints, top: int) -> list[Found]:
    """The passages with the highest values; those that are the same once extended to the left stand there once."""
    chosen = np.argsort(-value, kind="stable")[: 4 * top]
    found: dict[Passage, Found] = {}
    for start, length in zip(passages.starts[chosen].tolist(), passages.lengths[chosen].tolist(), strict=True):
        passage = repeats.whole(start, length)
        if passage not in found:
            found[passage] = _describe(row, passage, repeats.occurrences(start))
        if len(found) == top:
            break
    return list(found.values())


def _cuts(row: Row, surplus: NDArray[np.bool_]) -> dict[int, list[Span]]:
    """The surplus as spans of words in each document, by its number in the row."""
    edges = np.flatnonzero(np.diff(surplus.astype(np.int8), prepend=0, append=0))
    starts, ends = edges[::2], edges[1::2]
    documents = row.documents(starts)
    firsts = [start for start, _ in row.bounds()]
    found: dict[int, list[Span]] = {}
    for document, start, end in zip(documents.tolist(), starts.tolist(), ends.tolist(), strict=True):
        offset = firsts[document]
        found.setdefault(document, []).append((start - offset, end - offset))
    return found


def _describe(row: Row, passage: Passage, occurrences: Ints) -> Found:
    documents = row.documents(occurrences)
    domains = Counter(row.domains[number] for number in documents.tolist())
    return Found(
        words=passage.length,
        times=passage.count,
        documents=len(np.unique(documents)),
        domains=dict(sorted(domains.items(), key=lambda item: (-item[1], item[0]))[:5]),
        surplus=(passage.count - 1) * passage.length,
        first_url=row.urls[int(documents[0])],
        example=row.text(passage.start, min(passage.length, EXAMPLE_WORDS)),
    )


def _plain(found: Found) -> dict[str, Any]:
    return {name: getattr(found, name) for name in Found.__slots__}
