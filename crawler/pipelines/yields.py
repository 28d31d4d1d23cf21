"""Pipeline step `yields`: pages of a shape that suddenly says the same little everywhere are held, not silently kept.

Stands between the archive and the first stage adapter, so that it sees every page that the stages have read, also
those that they dropped: an empty page is what a fall is made of. The rule is `crawler/quarantine/rule.py`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from crawler.document import Document, Drop, DropReason
from crawler.quarantine.history import MemoryYields, SharedYields, YieldHistory
from crawler.quarantine.releases import Releases
from crawler.quarantine.rule import UNIT, Event, Judgement, YieldRule
from crawler.runtime import config_of
from crawler.scheduler.scheduler import frontier_of
from crawler.statkeys import QUARANTINED, QUARANTINED_AT
from crawler.urls.shape import shape_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.config import ExtractionConfig

logger = logging.getLogger(__name__)


class YieldPipeline:
    """Leaves `held_yield` on a document, unless it waits for another reason; the step `sharding` acts on it."""

    before_stages = True  # ends no hop: it reads what the hop from the spider left on the document

    def __init__(self, crawler: Crawler, rule: YieldRule) -> None:
        self._crawler, self._rule = crawler, rule
        self._history: YieldHistory | None = None
        self._releases = Releases()
        self._turn = asyncio.Lock()  # pages are counted in the order in which they were archived, so a replay agrees

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the rule from the configuration."""
        return cls(crawler, rule_of(config_of(crawler).extraction))

    async def process_item(self, doc: Document) -> Document:
        """Count what the page gave; hold it where its shape is in quarantine and the page is one of the hollow."""
        if not self._rule.share:
            return doc
        async with self._turn:  # also those that do not count: none may be asked about before one archived earlier
            if not _counts(doc) or await self._is_released(doc):
                return doc
            url, share = doc.canonical_url or doc.url, doc.extraction_yield or 0.0
            judgement = await self._histories().see(doc.domain, url, share, doc.text)
        if judgement.event is not Event.NOTHING:
            self._report(doc.domain, judgement)
        if judgement.low and doc.verdict is None and doc.hold is None:
            doc.hold = Drop("extraction", DropReason.HELD_YIELD, detail_of(doc, judgement))
        return doc

    async def _is_released(self, doc: Document) -> bool:
        """In a replay: a page that was fetched before its domain was released by hand. A live crawl forgot it then."""
        if not doc.warc_file or frontier_of(self._crawler) is not None:
            return False
        if not self._releases.knows(doc.warc_file):
            await asyncio.to_thread(self._releases.read, doc.warc_file)
        return self._releases.covers(doc.warc_file, doc.domain, doc.crawled_at)

    def _histories(self) -> YieldHistory:
        if self._history is None:
            frontier = frontier_of(self._crawler)
            self._history = SharedYields(self._rule, frontier.frontier) if frontier else MemoryYields(self._rule)
        return self._history

    def _report(self, domain: str, judgement: Judgement) -> None:
        stats = self._crawler.stats
        assert stats is not None
        fell = judgement.event is Event.FELL
        if fell:
            logger.warning("%s is in quarantine: its pages say the same little everywhere; they are in held/", domain)
        else:
            logger.warning("%s is out of quarantine: its pages say something of their own again", domain)
        stats.set_value(f"{QUARANTINED}/{domain}", max(1, round(judgement.recent * UNIT)) if fell else 0)
        stats.set_value(f"{QUARANTINED_AT}/{domain}", round(1000 * time.time()))


def _counts(doc: Document) -> bool:
    """False for a page without a yield, and for one whose text the stages had to take away unread."""
    read = "extraction" in doc.done and doc.extractor not in {"plain", "wet"}
    return read and bool(doc.text or not doc.char_count)


def rule_of(config: ExtractionConfig) -> YieldRule:
    """The rule that a configuration asks for."""
    return YieldRule(config.yield_share, config.yield_pages, config.yield_window)


def detail_of(doc: Document, judgement: Judgement) -> str:
    """What the record says about a page in quarantine."""
    return (
        f"yield {doc.extraction_yield or 0.0:.3f}; {shape_of(doc.canonical_url or doc.url)} gave "
        f"{judgement.usual:.3f} and gives {judgement.recent:.3f} now"
    )
