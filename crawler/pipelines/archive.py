"""Pipeline step `archive`: raw exchanges that policy allowed us to keep, before any judgement on the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.document import DropReason
from crawler.pipelines.sink import Sink, sink_of
from crawler.policy.evidence import History, with_history
from crawler.runtime import config_of
from crawler.storage.warc import Referred

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.document import Document, Exchange
    from crawler.storage.warc import WarcLocation


class ArchivePipeline:
    """Writes the exchange behind a document and stamps the document with its place in the archive.

    A page that policy stopped has `text_allowed` unset and never reaches a disk. One that is as it was at the last
    visit leaves a revisit record: it was judged then, and what its headers say was judged now.
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
        place = await self._archived(doc.exchange, doc) if self._enabled and doc.exchange is not None else None
        if place is not None:
            doc.warc_file, doc.warc_record_id, doc.warc_offset = place.file, place.record_id, place.offset
        doc.exchange = None
        return doc

    async def _archived(self, exchange: Exchange, doc: Document) -> WarcLocation | None:
        if doc.text_allowed:
            history = History(doc.redirects, doc.first_seen, doc.last_changed, doc.change_count)
            exchange.evidence = with_history(exchange.evidence, history)
            return await self._sink.archive(exchange)
        if doc.verdict is not None and doc.verdict.reason is DropReason.UNCHANGED:
            return await self._sink.archive_revisit(exchange, Referred(doc.url, doc.last_changed or None))
        return None
