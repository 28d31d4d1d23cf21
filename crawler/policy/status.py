"""A status without a page has a meaning; middlewares act on it, and archives are judged by it.

401, 402, 403, 451      denied: an answer, never worked around
404, 410                gone
3xx with a target       only points to another URL
200, 203                a page
"""

from __future__ import annotations

from crawler.document import Drop, DropReason

DENIALS = frozenset({401, 402, 403, 451})
GONE = frozenset({404, 410})
PAGE = frozenset({200, 203})
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def verdict_on_status(status: int) -> Drop | None:
    """The final verdict on an archived answer; None where it is a page. Nothing is tried again here."""
    if status in PAGE:
        return None
    detail = f"HTTP {status}"
    if status in REDIRECTS:
        return Drop("frontier", DropReason.REDIRECTED, detail)
    if status in DENIALS:
        return Drop("fetch", DropReason.ACCESS_DENIED, detail)
    if status in GONE:
        return Drop("fetch", DropReason.GONE, detail)
    return Drop("fetch", DropReason.HTTP_ERROR, detail)
