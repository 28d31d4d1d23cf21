"""Finds which version of a page counts, of whatever archive of the job: its newest verdict. Older ones are not written.

The rule is the one that a replay goes by at its end (`crawler/dataset/supersede.py`). Of a page whose newest version
refuses nothing is kept. Everything here runs inside executors, page by page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from crawler.dataset.pages import identity, page_key, page_name
from crawler.dataset.supersede import standing_of
from crawler.document import Document, Drop
from crawler.spark.partition import Duplicate, Flags, Judged, Read, order_of

_NAMED = ("url", "canonical_url", "crawl_id", "worker_id", "doc_id", "crawled_at", "warc_file", "warc_offset")

Visit = tuple[int, dict[str, Any]]
"""Order of a version, and what has to be known of it: no text, some hundred bytes."""


@dataclass(frozen=True, slots=True)
class PageVersions:
    """A page of which not every version is written. flags: by order, of those that are concerned.

    stale: versions that a newer one replaces. withdrawn: the newest version refuses, after others were kept.
    """

    flags: tuple[tuple[int, Flags], ...]
    stale: int
    withdrawn: bool


def visits(items: Iterable[Judged | Read]) -> Iterator[tuple[int, Visit]]:
    """Order and page of every version, with what has to be known of it."""
    for item in items:
        if isinstance(item, Judged):
            record = _record(item.doc, item.doc.verdict)
            yield order_of(item.place), (order_of(item.place), record)


def by_page(joined: tuple[int, tuple[Visit, Duplicate | None]]) -> tuple[bytes, Visit]:
    """The key of the page, and the version with its last verdict."""
    (number, record), duplicate = joined[1]
    if duplicate is not None:
        record = record | {"reason": duplicate.verdict.reason.value}
    return page_key(record), (number, record)


def versions_of(page: tuple[bytes, Iterable[Visit]]) -> Iterator[PageVersions]:
    """What becomes of the versions of one page; nothing where all of them are written."""
    found = sorted(page[1], key=lambda visit: visit[0])
    if len(found) == 1:
        return
    standing = standing_of(record for _, record in found)
    flags = []
    for number, record in found:
        one = Flags(identity(record) in standing.stale, page_name(record) in standing.opted_out)
        if one.stale or one.withdrawn:
            flags.append((number, one))
    if flags:
        yield PageVersions(tuple(flags), len(standing.stale), bool(standing.opted_out))


def _record(doc: Document, verdict: Drop | None) -> dict[str, Any]:
    named = {name: getattr(doc, name) for name in _NAMED}
    return named if verdict is None else named | {"reason": verdict.reason.value}
