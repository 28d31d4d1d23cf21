"""What came of a request, in the words of the frontier's table: the shape it counts for, and what it brought.

The table is bounded: 64 shapes a politeness scope and one row for all others, of 50 bytes and an example of at most 80;
with the row of the scope itself under 11 KiB. All of it is written by the script that acknowledges the lease
(`outcomes.lua`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.document import DropReason
from crawler.frontier.member import NO_SHAPE, NO_SOURCE
from crawler.urls.link import source_id
from crawler.urls.shape import shape_id_of

if TYPE_CHECKING:
    from crawler.document import Document
    from crawler.frontier.model import Lease

MAX_EXAMPLE = 80
"""Characters of an example in the table."""
OTHER_SHAPES, WHOLE_SCOPE = "*", "."
"""Rows of the table: of shapes that came too late for one of their own, and of the scope."""
KEPT, SHORT, DUPLICATE, OTHER, NEUTRAL = "k", "s", "d", "r", "n"


def outcome_entry(lease: Lease, doc: Document | None, quality_weight: float) -> bytes:
    """What `settle` takes along for the table of the lease's scope; b"" for what is no page."""
    if doc is None or lease.kind != "page" or (doc.verdict and doc.verdict.reason is DropReason.UNCHANGED):
        return b""  # a page that is as it was says nothing new of its shape
    kind, tokens, score = kind_of(doc), 0.0, _score_of(doc)
    if kind == KEPT:
        quality = 1.0 if doc.quality_score is None else doc.quality_score
        worth = quality if score is None else score
        tokens = max(1.0, doc.token_estimate * (1.0 - quality_weight + quality_weight * worth))
    return packed_outcome(lease, kind, tokens, score)


def _score_of(doc: Document) -> float | None:
    """0 to 1: what the first of CLASSIFIERS says that scored a text and knows what is wanted; None: none of them."""
    return next((score for name, score in doc.classifier_scores.items() if name not in doc.unwanted), None)


def packed_outcome(lease: Lease, kind: str, tokens: float, score: float | None = None) -> bytes:
    """An outcome as `outcomes.lua` reads it. `score`: 0 to 1, what a model says of the text; None: nothing."""
    link = lease.link
    mark = "-" if link.mark is None else link.mark
    place = f"{lease.shape or shape_id_of(link.url)}{link.parent or NO_SHAPE}{kind}{min(link.depth, 9)}{mark}"
    said = "-" if score is None else f"{score:.4f}"
    sources = f"{link.source or NO_SOURCE}{source_id(link.url)}"
    return f"{place} {tokens:.0f} {said} {sources} {link.url[:MAX_EXAMPLE]}".encode()


def kind_of(doc: Document) -> str:
    """Kept, too short, duplicate, otherwise fruitless, or neutral: an outage or a redirect says nothing of a shape."""
    if doc.verdict is None:
        return KEPT
    reason = doc.verdict.reason
    if reason.no_page and reason.group != "fetch":
        return SHORT
    if reason.is_duplicate:
        return DUPLICATE
    if reason is DropReason.HTTP_ERROR and 400 <= doc.http_status < 500 and doc.http_status not in {408, 425, 429}:
        return OTHER
    return NEUTRAL if reason.neutral or not reason.is_final else OTHER
