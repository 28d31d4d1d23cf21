"""In the personal-data stage: overlapping hits become one, and each value becomes a placeholder.

`Placeholders` lives for one document: the first value of a type is `[EMAIL_ADDRESS]`, the second different value
`[EMAIL_ADDRESS_2]`, and a value that comes back gets the placeholder it had, so that coreference survives redaction.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawler.stages.pii_rules import Hit

_PRECEDENCE = ("IBAN_CODE", "CREDIT_CARD", "EMAIL_ADDRESS", "CRYPTO", "IP_ADDRESS")
"""Which reading of the same characters wins; then identity numbers, telephone numbers, names."""

Span = tuple[int, int, str]
"""Start, end (characters) and entity type of a placeholder in the redacted text."""


def resolve(hits: Iterable[Hit]) -> list[Hit]:
    """Hits in order of position, without overlaps: the stronger type wins, then the longer, then the earlier."""
    kept: list[Hit] = []
    taken: list[tuple[int, int]] = []
    for hit in sorted(hits, key=lambda h: (_rank(h.entity), h.start - h.end, h.start, h.entity)):
        kept.append(hit)
        taken.append((hit.start, hit.end))
    return _without_overlaps(kept)


def _rank(entity: str) -> int:
    if entity in _PRECEDENCE:
        return _PRECEDENCE.index(entity)
    return {"PHONE_NUMBER": 21, "PERSON": 30, "NRP": 31}.get(entity, 20)


def _without_overlaps(by_strength: list[Hit]) -> list[Hit]:
    """Sweep by position; where two touch the same characters the one earlier in `by_strength` stays. O(n log n)."""
    strength = {hit: index for index, hit in enumerate(by_strength)}
    kept: list[Hit] = []
    for hit in sorted(by_strength, key=lambda h: (h.start, h.end)):
        while kept and kept[-1].end > hit.start and strength[hit] < strength[kept[-1]]:
            kept.pop()
        if not kept or kept[-1].end <= hit.start:
            kept.append(hit)
    return kept


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
        name = placeholders.name(hit)
        pieces += (text[position : hit.start], name)
        length += hit.start - position
        spans.append((length, length + len(name), hit.entity))
        length += len(name)
        position = hit.end
    pieces.append(text[position:])
    return "".join(pieces), spans
