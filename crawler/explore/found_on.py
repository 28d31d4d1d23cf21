"""The page on which a URL was found: the archive has letters of its URL, the catalogue has the page.

A URL waits in the frontier with three bytes of the MD5 of that page's URL and the shape of it, because a million URLs
wait there. Both together are 42 bits, so that within one corpus two pages are hardly ever meant.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.urls.shape import shape_id_of

if TYPE_CHECKING:
    from crawler.explore.catalogue import Catalogue
    from crawler.storage.files.records import Record

_MOST = 50
_QUESTION = (
    "SELECT id, url, canonical_url, crawled_at FROM records WHERE {} "
    "(starts_with(md5(canonical_url), $letters) OR starts_with(md5(url), $letters)) "
    "ORDER BY crawled_at <= $before DESC, crawled_at DESC LIMIT $most"
)


class Found(NamedTuple):
    """How a URL came into the frontier, in words, and the page in the catalogue where it is one of it."""

    words: str
    key: int | None = None


def found_on(catalogue: Catalogue, record: Record, fetch: Mapping[str, Any]) -> Found | None:
    """What the archive says of how the URL was found; None where it says nothing (a seed, or an older crawl).

    Of several fetches of that page the last one before this page's. Raises: NotReadyError, StorageError.
    """
    noted, how = fetch.get("found_on"), fetch.get("found_by")
    if how == "list":
        return Found("a sitemap or feed")
    if how != "link" or not isinstance(noted, dict) or not (letters := _letters(noted)):
        return None
    values = {"letters": letters, "before": str(record.get("crawled_at") or ""), "most": _MOST}
    for where, more in (("domain = $domain AND", {"domain": record.get("domain")}), ("", {})):
        for key, url, canonical, _ in catalogue.rows(_QUESTION.format(where), values | more):
            if noted["shape"] in {shape_id_of(name) for name in (canonical, url) if name}:
                return Found(str(url), key)
    return Found("a page that is not in this corpus (any more)")


def _letters(noted: Mapping[str, Any]) -> str:
    """The begin of the page's MD5 in hexadecimal; empty where the note is none of ours."""
    try:
        return urlsafe_b64decode(str(noted["id"])).hex() if isinstance(noted["shape"], str) else ""
    except (KeyError, ValueError):
        return ""
