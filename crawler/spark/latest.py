"""Finds which version of a page counts, of whatever archive of the job: its newest verdict. Older ones are not written.

The rule is the one that a replay goes by at its end (`crawler/dataset/supersede.py`). Of a page whose newest version
refuses nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from crawler.dataset.pages import identity, page_key, page_name
from crawler.dataset.supersede import standing_of
from crawler.document import Document, Drop
from crawler.spark.partition import Duplicate, Judged, Place, Unread

_NAMED = ("url", "canonical_url", "crawl_id", "worker_id", "doc_id", "crawled_at", "warc_file", "warc_offset")


class Shared(Protocol):
    """The keys of `key_of` as Spark brings them to every executor: a broadcast variable."""

    @property
    def value(self) -> frozenset[int]:
        """One for each page of which there are several versions."""


class Verdicts(Protocol):
    """The verdicts against duplicates, likewise."""

    @property
    def value(self) -> Mapping[Place, Duplicate]:
        """Verdicts by place."""


@dataclass(frozen=True, slots=True)
class Older:
    """What is not written.

    stale: versions that a newer one replaces, by `identity`. withdrawn: names of pages that were kept once and whose
    newest version says no.
    """

    stale: frozenset[bytes] = frozenset()
    withdrawn: frozenset[str] = frozenset()

    def leaves_out(self, doc: Document) -> bool:
        """Whether this version is replaced. The verdict of the document has to be the last one."""
        return bool(self.stale) and identity(_record(doc, doc.verdict)) in self.stale

    def withdraws(self, doc: Document) -> bool:
        """Whether nothing of the page may be kept."""
        return bool(self.withdrawn) and page_name(_record(doc, None)) in self.withdrawn


def keys(items: Iterable[Judged | Unread]) -> Iterator[tuple[int, int]]:
    """What stands for the page of each version, with 1, to be added up."""
    return ((key_of(item), 1) for item in items if isinstance(item, Judged))


def is_repeated(counted: tuple[int, int]) -> bool:
    """True for a page of several versions."""
    return counted[1] > 1


def key_of(judged: Judged) -> int:
    """Stands for a page, whatever its version, as far as 8 bytes can: a page too many does no harm."""
    return int.from_bytes(page_key(_record(judged.doc, None))[:8], "little")


def visits(repeated: Shared, duplicates: Verdicts, items: Iterable[Judged | Unread]) -> Iterator[dict[str, Any]]:
    """What has to be known of every version of the pages that have several: no text, some hundred bytes."""
    for item in items:
        if isinstance(item, Judged) and key_of(item) in repeated.value:
            duplicate = duplicates.value.get(item.place)
            verdict = duplicate.verdict if duplicate else item.doc.verdict
            yield _record(item.doc, verdict)


def older(found: Iterable[dict[str, Any]]) -> Older:
    """What is not written, of all versions in the order of the archives."""
    standing = standing_of(found)
    return Older(frozenset(standing.stale), frozenset(standing.opted_out))


def _record(doc: Document, verdict: Drop | None) -> dict[str, Any]:
    named = {name: getattr(doc, name) for name in _NAMED}
    return named if verdict is None else named | {"reason": verdict.reason.value}
