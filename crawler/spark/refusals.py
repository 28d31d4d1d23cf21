"""Finds the pages of which a later version, in whatever archive of the job, says no: no version of them is written.

The rule is the one by which a replay withdraws at its end (`crawler/dataset/supersede.py`): the newest verdict counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from crawler.dataset.supersede import standing_of
from crawler.dataset.verify import page_key
from crawler.document import Document, DropReason
from crawler.spark.partition import Duplicate, Judged, Place, Unread

_NAMED = ("url", "canonical_url", "crawl_id", "worker_id", "doc_id", "crawled_at")


class Shared(Protocol):
    """The keys of `key_of` as Spark brings them to every executor: a broadcast variable."""

    @property
    def value(self) -> frozenset[bytes]:
        """One for each page that some version of it refuses."""


class Verdicts(Protocol):
    """The verdicts against duplicates, likewise."""

    @property
    def value(self) -> Mapping[Place, Duplicate]:
        """Verdicts by place."""


def refuses(item: Judged | Unread) -> bool:
    """True for a version of a page that says no."""
    return isinstance(item, Judged) and item.doc.verdict is not None and item.doc.verdict.reason is DropReason.OPTOUT


def key_of(judged: Judged) -> bytes:
    """Stands for a page, whatever its version; 16 bytes."""
    return page_key(_named(judged.doc), "url")


def visits(refused: Shared, duplicates: Verdicts, items: Iterable[Judged | Unread]) -> Iterator[dict[str, Any]]:
    """What has to be known of every version of the pages that some version refuses: no text, some hundred bytes."""
    for item in items:
        if isinstance(item, Judged) and key_of(item) in refused.value:
            duplicate = duplicates.value.get(item.place)
            verdict = duplicate.verdict if duplicate else item.doc.verdict
            yield _named(item.doc) | ({} if verdict is None else {"reason": verdict.reason.value})


def withdrawn(found: Iterable[dict[str, Any]]) -> frozenset[str]:
    """The URLs of the pages that were kept once and whose newest version says no."""
    return frozenset(standing_of(found).opted_out)


def _named(doc: Document) -> dict[str, Any]:
    return {name: getattr(doc, name) for name in _NAMED}
