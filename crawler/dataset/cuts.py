"""A record without some of its words: text, counts, fingerprints and the places of placeholders follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crawler.dataset.word_rows import spans
from crawler.document import SPAN_FIELDS, Drop
from crawler.stages.fingerprint import exact_id
from crawler.stages.text.spans import Edit, moved, quotes
from crawler.stages.text.words import counts, is_short
from crawler.storage.files.records import OF_TEXT, Record, as_lists, spans_in

Span = tuple[int, int]


def without(record: Record, cuts: Iterable[Span]) -> Record:
    """The record without the words (start, end) of its text. Scores stay those of the whole text."""
    text: str = record["text"]
    new, edits = _joined(text, _kept(text, list(cuts)))
    found = {name: as_lists(moved(spans_in(record, name), edits, new)) for name in SPAN_FIELDS}
    found |= quoted(record, found, new)
    changed = {"doc_id": exact_id(new), "text": new, "pii_span_count": len(found["pii_spans"]["start"])}
    left = counts(new)
    return record | changed | found | left | {"short": is_short(left["word_count"])}


def quoted(record: Record, found: Mapping[str, Any], text: str) -> Record:
    """What the record repeats of its new text; found: its spans there. Nothing of one that older versions wrote."""
    if "legal_spans" not in record:
        return {}
    cited, dockets = quotes(text, spans_in(found, "legal_spans"))
    return {"legal_citations": cited, "legal_dockets": dockets}


def rejection(record: Record, verdict: Drop) -> Record:
    """The record for `rejected/` of a kept document that a batch job decided against: no text, scores as they were."""
    head = {name: record.get(name) for name in ("url", "canonical_url", "domain")}
    head |= {"stage": verdict.stage, "reason": verdict.reason.value, "detail": verdict.detail[:512]}
    left_out = {*head, *OF_TEXT}
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


def _joined(text: str, parts: list[Span]) -> tuple[str, list[Edit]]:
    """The parts as one text, and the edits that made it.

    Parts are joined by what stood before and behind the cut: a blank line, a line break or a space.
    """
    new: list[str] = []
    edits: list[Edit] = []
    at = 0
    for start, end in parts:
        gap = _gap(text[at:start]) if new else ""
        if start > at:
            edits.append((at, start, len(gap)))
        new += (gap, text[start:end])
        at = end
    return "".join(new), [*edits, (at, len(text), 0)]


def _gap(cut: str) -> str:
    """The widest of the white space at both ends of what was cut."""
    before, behind = cut[: len(cut) - len(cut.lstrip())], cut[len(cut.rstrip()) :]
    return "\n" * min(2, max(before.count("\n"), behind.count("\n"))) or " "
