"""What all item pipelines share: a stage's verdict becomes Scrapy's `DropItem`.

One `DropItem` subclass per stage, so that Scrapy's own counters (`item_dropped_reasons_count/…`) split by stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn

from scrapy.exceptions import CloseSpider, DropItem

from crawler.document import Document, Drop
from crawler.pool.pool import StagePool, pool_of
from crawler.stages.chain import STAGES
from crawler.statkeys import FATAL

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class StageDrop(DropItem):
    """A document that a stage, or a room before the stages, decided against. `verdict` says why.

    `doc` is the document with all that its stages found; the item that Scrapy names may be the one before its last hop.
    """

    def __init__(self, verdict: Drop, doc: Document | None = None) -> None:
        super().__init__(f"{verdict.stage}/{verdict.reason}")
        self.verdict, self.doc = verdict, doc


class FrontierDrop(StageDrop):
    """Decided before the request: scope, redirects, caps."""


class PolicyDrop(StageDrop):
    """Decided by robots.txt, an opt-out signal, the network guard or a licence."""


class FetchDrop(StageDrop):
    """No usable response came back."""


class RecrawlDrop(StageDrop):
    """The page's own history says that it is no more what was kept."""


class ParseDrop(StageDrop):
    """The bytes could not be read as a page, or the stage pool gave up on them."""


class ExtractionDrop(StageDrop):
    """No text, or not enough."""


class LanguageDrop(StageDrop):
    """Unknown, unwanted or uncertain language."""


class QualityDrop(StageDrop):
    """A quality rule or the score said no."""


class PiiDrop(StageDrop):
    """Too much personal data."""


class ContaminationDrop(StageDrop):
    """The text repeats an evaluation set."""


class ExactDuplicateDrop(StageDrop):
    """The same text is in the corpus."""


class NearDuplicateDrop(StageDrop):
    """Almost the same text is in the corpus."""


DROPS: dict[str, type[StageDrop]] = {
    "frontier": FrontierDrop,
    "policy": PolicyDrop,
    "optout": PolicyDrop,
    "fetch": FetchDrop,
    "parse": ParseDrop,
    "recrawl": RecrawlDrop,
    "stages": ParseDrop,
    "extraction": ExtractionDrop,
    "language": LanguageDrop,
    "quality": QualityDrop,
    "pii": PiiDrop,
    "contamination": ContaminationDrop,
    "exact": ExactDuplicateDrop,
    "near": NearDuplicateDrop,
}


def drop(doc: Document, verdict: Drop) -> NoReturn:
    """Leave `verdict` on the document and end its way.

    Raises: the `StageDrop` subclass of the verdict's stage.
    """
    doc.verdict = verdict
    raise DROPS.get(verdict.stage, StageDrop)(verdict, doc)


def refuse_to_start(crawler: Crawler, error: Exception) -> NoReturn:
    """Close the crawl before its first page; `scrapy crawl` shows the error as one sentence and exits with 1.

    Raises: CloseSpider.
    """
    assert crawler.stats is not None
    crawler.stats.set_value(FATAL, str(error))
    raise CloseSpider("start_failed") from error


class StagePipeline:
    """Adapter of one pure stage: raises the stage's verdict, and runs the stage where it has not run yet.

    The spider sends a page through all stages in one hop to a worker process. Where another pipeline stands between
    two stages, the hop ends there, and the next adapter starts a second one.
    """

    stage: ClassVar[str]

    def __init__(self, pool: StagePool) -> None:
        self._pool = pool

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's one process pool."""
        return cls(pool_of(crawler))

    async def process_item(self, doc: Document) -> Document:
        """Answer the document, or raise its verdict."""
        if doc.verdict is None and self.stage not in doc.done:
            doc = await self._pool.run(doc, STAGES[STAGES.index(self.stage) :])
        if doc.verdict is not None:
            drop(doc, doc.verdict)
        return doc
