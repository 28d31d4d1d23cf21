"""Pipeline step `archive`: raw exchanges that policy allowed us to keep, before any judgement on the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pipelines.sink import Sink, sink_of
from crawler.policy.evidence import History, with_history
from crawler.runtime import config_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.document import Document


class ArchivePipeline:
    """Writes the exchange behind a document and stamps the document with its place in the archive.

    A page that policy stopped has `text_allowed` unset and never reaches a disk.
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
        if self._enabled and doc.exchange is not None and doc.text_allowed:
            history = History(doc.redirects, doc.first_seen, doc.last_changed, doc.change_count)
            doc.exchange.evidence = with_history(doc.exchange.evidence, history)
            place = await self._sink.archive(doc.exchange)
            doc.warc_file, doc.warc_record_id, doc.warc_offset = place.file, place.record_id, place.offset
        doc.exchange = None
        return doc
