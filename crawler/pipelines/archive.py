"""Pipeline step `archive`: raw exchanges that policy allowed us to keep, before any judgement on the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.document import DropReason
from crawler.pipelines.sink import Sink, sink_of
from crawler.policy.evidence import Evidence, History, with_history, with_verdict
from crawler.runtime import config_of
from crawler.storage.archive.records import Referred

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.document import Document, Drop
    from crawler.storage.archive.writer import WarcLocation


class ArchivePipeline:
    """Writes the exchange behind a document and stamps the document with its place in the archive.

    A page that policy stopped has `text_allowed` unset and never reaches a disk. One that is as it was at the last
    visit leaves a revisit record: it was judged then, and what its headers say was judged now. One that was kept and is
    gone or moved leaves the verdict, so that a replay knows of it.
    """

    before_stages = True  # stands before the first stage and does not read what stages write

    def __init__(self, sink: Sink, enabled: bool) -> None:
        self._sink = sink
        self._enabled = enabled

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's one sink."""
        return cls(sink_of(crawler), config_of(crawler).storage.archive)

    async def process_item(self, doc: Document) -> Document:
        """Archive the exchange; answer the document with `warc_file`, `warc_record_id` and `warc_offset`."""
        place = await self._archived(doc) if self._enabled else None
        if place is not None:
            doc.warc_file, doc.warc_record_id, doc.warc_offset = place.file, place.record_id, place.offset
        doc.exchange = None
        return doc

    async def _archived(self, doc: Document) -> WarcLocation | None:
        exchange, verdict = doc.exchange, doc.verdict
        if exchange is not None:
            exchange.evidence = with_history(exchange.evidence, _history(doc))
        if exchange is not None and doc.text_allowed:
            return await self._sink.archive(exchange)
        if exchange is not None and verdict is not None and verdict.reason is DropReason.UNCHANGED:
            return await self._sink.archive_revisit(exchange, Referred(doc.url, doc.last_changed or None))
        if verdict is not None and _is_tombstone(verdict) and (doc.past or doc.past_text):
            return await self._sink.archive_tombstone(doc.url, doc.crawled_at, _tombstone(doc, verdict))
        return None


def _is_tombstone(verdict: Drop) -> bool:
    """An opt-out leaves none: the page's records are erased at the end of the run, as if it had never been fetched."""
    return verdict.reason.is_final and verdict.reason is not DropReason.OPTOUT


def _history(doc: Document) -> History:
    return History(doc.redirects, doc.first_seen, doc.last_changed, doc.change_count, doc.past_text, doc.past)


def _tombstone(doc: Document, verdict: Drop) -> bytes:
    seen = Evidence(
        doc.robots_status,
        doc.robots_sha256,
        doc.robots_fetched_at,
        signals=doc.optout_signals,
        files=doc.control_files,
    )
    known = with_history(seen.dump(doc.profile, choices=doc.choices), _history(doc))
    return with_verdict(known, verdict, doc.http_status)
