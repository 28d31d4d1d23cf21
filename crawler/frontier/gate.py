"""Last station before the wire: no request leaves without a turn at its host, whoever sends it and for what.

Pages come with a politeness slot (their lease). robots.txt, sitemaps of other hosts and anything a component downloads
on its own have none and wait here for one; so does a page whose slot was used up by the robots.txt in front of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader import Downloader
from scrapy.exceptions import IgnoreRequest

from crawler.document import Drop, DropReason

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.frontier.scheduler import Scheduler


class PutBack(IgnoreRequest):
    """The host's next turn is too far away to wait for here; the scheduler puts the URL back without costing a try."""

    def __init__(self, not_before: float) -> None:
        super().__init__("its host is blocked for now")
        self.not_before = not_before


class Exhausted(IgnoreRequest):
    """No try was left when the URL was handed out: it is recorded, not fetched. `drop` says why."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        crashed = bool(reasons) and all(reason == "lease expired" for reason in reasons)
        reason = DropReason.STAGE_CRASHED if crashed else DropReason.DOWNLOAD_FAILED
        self.drop = Drop("frontier", reason, "; ".join(reasons)[-512:])
        super().__init__(self.drop.detail)


class PolitenessGate:
    """Downloader middleware; stands closest to the downloader. The scheduler refuses to start without it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Called by Scrapy."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Wait for the request's turn. Raises: PutBack, Exhausted."""
        engine = self._crawler.engine
        assert engine is not None
        scheduler: Scheduler = engine.scheduler  # type: ignore[assignment]  # checked when the scheduler opens
        await scheduler.turn(request)


class OpenDownloader(Downloader):
    """Scrapy's downloader without its per-process delays and per-domain limits: those belong to all workers together.

    `DOWNLOAD_DELAY` and `CONCURRENT_REQUESTS_PER_DOMAIN` are kept by the frontier; applied here a second time they
    would only make every page wait twice.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._delay = 0.0
        self._jitter = 0.0
        self.ip_concurrency = 0
        self.domain_concurrency = max(1, self.total_concurrency)
