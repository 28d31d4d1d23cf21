"""Pipeline step `sharding`: the document becomes a line of a shard, or of `held/`; returns when it is on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pipelines.sink import Sink, sink_of
from crawler.storage.files.records import held_kind, holding_of, record_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.document import Document


class ShardingPipeline:
    """The last step: group commit, then the document counts as kept and its lease may be acknowledged."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's one sink."""
        return cls(sink_of(crawler))

    async def process_item(self, doc: Document) -> Document:
        """Write the record and wait for the commit that covers it."""
        if doc.hold is None:
            await self._sink.keep(record_of(doc))
        else:
            await self._sink.hold(holding_of(doc, doc.hold), held_kind(doc.hold.reason))
        return doc
