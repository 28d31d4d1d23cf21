"""What came of a request, in the words of the frontier's table: the shape it counts for, and what it brought.

The table is bounded: 64 shapes a politeness scope and one row for all others, of 50 bytes and an example of at most 80;
with the row of the scope itself under 11 KiB. All of it is written by the script that acknowledges the lease
(`outcomes.lua`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.document import DropReason
from crawler.frontier.member import NO_SHAPE
from crawler.urls.shape import shape_id_of

if TYPE_CHECKING:
    from crawler.document import Document
    from crawler.frontier.model import Lease

MAX_EXAMPLE = 80
"""Characters of an example in the table."""
OTHER_SHAPES, WHOLE_SCOPE = "*", "."
"""Rows of the table: of shapes that came too late for one of their own, and of the scope."""
KEPT, SHORT, DUPLICATE, OTHER, NEUTRAL = "k", "s", "d", "r", "n"
_SHORT = frozenset({DropReason.NO_TEXT, DropReason.TOO_SHORT, DropReason.GOPHER_SHORT_DOC, DropReason.PLACEHOLDER})
_DUPLICATE = frozenset({DropReason.EXACT_DUPLICATE, DropReason.NEAR_DUPLICATE})
_NEUTRAL = frozenset({DropReason.REDIRECTED, DropReason.NETWORK_FORBIDDEN, DropReason.LICENCE_EXPIRED})


def outcome_entry(lease: Lease, doc: Document | None, quality_weight: float) -> bytes:
    """What `settle` takes along for the table of the lease's scope; b"" for what is no page."""
    if doc is None or lease.kind != "page":
        return b""
    kind, tokens = kind_of(doc), 0.0
    if kind == KEPT:
        quality = 1.0 if doc.quality_score is None else doc.quality_score
        tokens = max(1.0, doc.token_estimate * (1.0 - quality_weight + quality_weight * quality))
    return packed_outcome(lease, kind, tokens)


def packed_outcome(lease: Lease, kind: str, tokens: float) -> bytes:
    """An outcome as `outcomes.lua` reads it."""
    link = lease.link
    mark = "-" if link.mark is None else link.mark
    place = f"{shape_id_of(link.url)}{link.parent or NO_SHAPE}{kind}{min(link.depth, 9)}{mark}"
    return f"{place} {tokens:.0f} {link.url[:MAX_EXAMPLE]}".encode()


def kind_of(doc: Document) -> str:
    """Kept, too short, duplicate, otherwise fruitless, or neutral: an outage or a redirect says nothing of a shape."""
    if doc.verdict is None:
        return KEPT
    reason = doc.verdict.reason
    if reason in _SHORT:
        return SHORT
    if reason in _DUPLICATE:
        return DUPLICATE
    if reason is DropReason.HTTP_ERROR and 400 <= doc.http_status < 500 and doc.http_status not in {408, 425, 429}:
        return OTHER
    return NEUTRAL if reason in _NEUTRAL or not reason.is_final else OTHER
