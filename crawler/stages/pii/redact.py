"""Overlapping hits become one, and each value becomes a placeholder.

`Placeholders` lives for one document: the first value of a type is `[EMAIL_ADDRESS]`, the second different value
`[EMAIL_ADDRESS_2]`, and a value that comes back gets the placeholder it had, so that coreference survives redaction.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Iterable, Iterator
from dataclasses import replace

from crawler.document import Span
from crawler.stages.pii.page import SECRET, Hit
from crawler.stages.text.spans import Edit

_PRECEDENCE = (SECRET, "IBAN_CODE", "CREDIT_CARD", "EMAIL_ADDRESS", "CRYPTO", "IP_ADDRESS")
"""Which reading of the same characters wins; then identity numbers, telephone numbers, names."""


def resolve(hits: Iterable[Hit]) -> list[Hit]:
    """Hits in order of position, without overlaps: the stronger type wins, then the longer, then the earlier.

    Of a hit that loses some of its characters the rest stays a hit: what any rule called personal is never let go.
    """
    resolved: list[Hit] = []
    for group in _touching(hits):
        resolved += group if len(group) == 1 else _without_overlaps(group)
    return resolved


def _touching(hits: Iterable[Hit]) -> Iterator[list[Hit]]:
    """The hits in groups, in order, of which each overlaps another one of its group and none of another group."""
    group: list[Hit] = []
    end = 0
    for hit in sorted(set(hits), key=lambda h: h.start):
        if group and hit.start >= end:
            yield group
            group = []
        end = max(end, hit.end) if group else hit.end
        group.append(hit)
    if group:
        yield group


def _without_overlaps(group: list[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    for hit in sorted(group, key=lambda h: (_rank(h.entity), h.start - h.end, h.start, h.entity, h.value)):
        at = max(0, bisect(kept, hit.start, key=lambda h: h.start) - 1)
        position, rests = hit.start, []
        while at < len(kept) and kept[at].start < hit.end:
            if position < kept[at].start:
                rests.append(replace(hit, start=position, end=kept[at].start))
            position = max(position, kept[at].end)
            at += 1
        if position < hit.end:
            rests.append(replace(hit, start=position))
        for rest in rests:
            insort(kept, rest, key=lambda h: h.start)
    return kept


def _rank(entity: str) -> int:
    if entity in _PRECEDENCE:
        return _PRECEDENCE.index(entity)
    return {"PHONE_NUMBER": 21, "PERSON": 30, "NRP": 31}.get(entity, 20)


class Placeholders:
    """Names for the values of one document; holds the values only as long as the document is in hand."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def name(self, hit: Hit) -> str:
        """The placeholder of a hit's value, a new one where the value is new."""
        key = (hit.entity, hit.value)
        if key not in self._names:
            number = self._counts[hit.entity] = self._counts.get(hit.entity, 0) + 1
            self._names[key] = f"[{hit.entity}]" if number == 1 else f"[{hit.entity}_{number}]"
        return self._names[key]

    @property
    def entity_types(self) -> list[str]:
        """Types seen so far, sorted."""
        return sorted(self._counts)


def redact(text: str, hits: list[Hit], placeholders: Placeholders) -> tuple[str, list[Span]]:
    """Replace resolved hits. Returns the redacted text and the spans of the placeholders in it."""
    pieces: list[str] = []
    spans: list[Span] = []
    length = position = 0
    for hit in hits:
        start, end = _inked(text, hit)
        if start == end:
            continue
        name = placeholders.name(hit)
        pieces += (text[position:start], name)
        length += start - position
        spans.append((length, length + len(name), hit.entity))
        length += len(name)
        position = end
    pieces.append(text[position:])
    return "".join(pieces), spans


def edits_of(text: str, hits: Iterable[Hit], spans: Iterable[Span]) -> list[Edit]:
    """What `redact` has done to a text, from what it answered."""
    inked = (place for hit in hits if (place := _inked(text, hit))[0] < place[1])
    return [(*place, end - start) for place, (start, end, _) in zip(inked, spans, strict=True)]


def _inked(text: str, hit: Hit) -> tuple[int, int]:
    """The hit without white space and separators at its ends, but with both brackets; empty where nothing is in it."""
    start, end = hit.start, hit.end
    if hit.entity == SECRET:  # its marks are part of it
        return start, end
    while start < end and not text[start].isalnum() and text[start] not in "+(":
        start += 1
    while start < end and not text[end - 1].isalnum():
        if text[end - 1] == ")" and text.count("(", start, end) == text.count(")", start, end):
            break
        end -= 1
    return start, end
