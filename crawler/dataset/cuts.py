"""A record without some of its words: text, counts, fingerprints and the places of placeholders follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crawler.dataset.word_rows import spans
from crawler.document import Drop
from crawler.stages.fingerprint import exact_id
from crawler.stages.text.words import counts
from crawler.storage.files.records import TEXT_FIELDS, Record

Span = tuple[int, int]


def without(record: Record, cuts: Iterable[Span]) -> Record:
    """The record without the words (start, end) of its text. Scores stay those of the whole text."""
    text: str = record["text"]
    kept = _kept(text, list(cuts))
    new, moves = _joined(text, kept)
    found = _moved(record.get("pii_spans") or [], moves)
    changed = {
        "doc_id": exact_id(new),
        "text": new,
        "pii_spans": found,
        "pii_span_count": len(found),
    }
    return record | changed | counts(new)


def rejection(record: Record, verdict: Drop) -> Record:
    """The record for `rejected/` of a kept document that a batch job decided against: no text, scores as they were."""
    head = {name: record.get(name) for name in ("url", "canonical_url", "domain")}
    head |= {"stage": verdict.stage, "reason": verdict.reason.value, "detail": verdict.detail[:512]}
    left_out = {*head, *TEXT_FIELDS, "pii_spans"}
    return head | {name: value for name, value in record.items() if name not in left_out}


def _kept(text: str, cuts: Sequence[Span]) -> list[Span]:
    """The parts of the text, in characters, between the words to be cut; without white space at their ends."""
    places = spans(text)
    edges = [0, *(edge for start, end in cuts for edge in (places[start][0], places[end - 1][1])), len(text)]
    parts = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        part = text[start:end]
        if part.strip():
            first = start if start == 0 else end - len(part.lstrip())
            parts.append((first, end if end == len(text) else start + len(part.rstrip())))
    return parts


def _joined(text: str, parts: list[Span]) -> tuple[str, list[tuple[int, int, int]]]:
    """The parts as one text, and for each its start and end in the old text and how far it has moved.

    Parts are joined by what stood before and behind the cut: a blank line, a line break or a space.
    """
    new, moves, size = [], [], 0
    for number, (start, end) in enumerate(parts):
        if number:
            gap = _gap(text[parts[number - 1][1] : start])
            new.append(gap)
            size += len(gap)
        moves.append((start, end, size - start))
        new.append(text[start:end])
        size += end - start
    return "".join(new), moves


def _gap(cut: str) -> str:
    """The widest of the white space at both ends of what was cut."""
    before, behind = cut[: len(cut) - len(cut.lstrip())], cut[len(cut.rstrip()) :]
    return "\n" * min(2, max(before.count("\n"), behind.count("\n"))) or " "


def _moved(places: Iterable[Sequence[object]], moves: list[tuple[int, int, int]]) -> list[list[object]]:
    """The placeholders that are left, at their new places."""
    found: list[list[object]] = []
    for start, end, kind in places:
        assert isinstance(start, int)
        assert isinstance(end, int)
        found += [[start + by, end + by, kind] for first, last, by in moves if first <= start and end <= last]
    return found
