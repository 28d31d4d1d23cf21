"""What all item pipelines share: a stage's verdict becomes Scrapy's `DropItem`.

One `DropItem` subclass per stage, so that Scrapy's own counters (`item_dropped_reasons_count/…`) split by stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NoReturn

from scrapy.exceptions import CloseSpider, DropItem

from crawler.config.stages import pipeline_numbers
from crawler.dedup.index import DedupError
from crawler.document import Document, Drop
from crawler.pool.pool import PoolError, StagePool, pool_of
from crawler.server.errors import FrontierError
from crawler.stages.chain import STAGES
from crawler.statkeys import FATAL
from crawler.storage.files.errors import StorageError
from crawler.trouble import of_this_machine

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


_TROUBLE = (StorageError, PoolError, FrontierError, DedupError)


class StageDrop(DropItem):
    """A document that a stage, or a room before the stages, decided against. `verdict` says why."""

    def __init__(self, verdict: Drop) -> None:
        super().__init__(f"{verdict.stage}/{verdict.reason}")
        self.verdict = verdict


_ROOMS = {
    **dict.fromkeys(("frontier", "policy", "fetch", "parse", "recrawl"), ""),
    **{"optout": "Policy", "stages": "Parse", "exact": "ExactDuplicate", "near": "NearDuplicate"},
}
"""Who decides beside the stages that have a pipeline, and under whose name Scrapy counts it where that is another's."""


def _classes() -> dict[str, type[StageDrop]]:
    names = {who: name or _camel(who) for who, name in (dict.fromkeys(pipeline_numbers(), "") | _ROOMS).items()}
    made = {name: type(f"{name}Drop", (StageDrop,), {}) for name in names.values()}
    return {who: made[name] for who, name in names.items()}


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


DROPS = _classes()
"""The exception of each stage, or room before and behind the stages."""


def drop(doc: Document, verdict: Drop) -> NoReturn:
    """Leave `verdict` on the document and end its way.

    Raises: the `StageDrop` subclass of the verdict's stage.
    """
    doc.verdict = verdict
    raise DROPS.get(verdict.stage, StageDrop)(verdict)


def refuse_to_start(crawler: Crawler, error: Exception) -> NoReturn:
    """Close the crawl before its first page; `gristmill crawl` shows the error as one sentence and exits with 1.

    Raises: CloseSpider.
    """
    assert crawler.stats is not None
    crawler.stats.set_value(FATAL, str(error))
    raise CloseSpider("start_failed") from error


def is_trouble(error: BaseException | None) -> bool:
    """True where the disk, a server, the stage processes or this machine failed: it says nothing about a page."""
    return isinstance(error, _TROUBLE) or (error is not None and of_this_machine(error) is not None)


def sentence_of(error: BaseException | None) -> str:
    """What people are told of such trouble."""
    return (not isinstance(error, _TROUBLE) and error is not None and of_this_machine(error)) or str(error)


class StagePipeline:
    """Adapter of one pure stage: raises the stage's verdict, and runs the stage where it has not run yet.

    The spider sends a page through all stages in one hop to a worker process. Where another pipeline stands between
    two stages, the hop ends there, and the next adapter starts a second one. The document stays the same object, which
    Scrapy hands to whoever hears of its end.
    """

    stage: ClassVar[str]  # by name

    def __init__(self, pool: StagePool) -> None:
        self._pool = pool

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share the crawler's one process pool."""
        return cls(pool_of(crawler))

    async def process_item(self, doc: Document) -> Document:
        """Answer the document, or raise its verdict."""
        if doc.verdict is None and self.stage not in doc.done:
            doc.become(await self._pool.run(doc, STAGES[STAGES.index(self.stage) :]))
        if doc.verdict is not None:
            drop(doc, doc.verdict)
        return doc
