"""No request leaves without a turn at its host, whoever sends it and for what: behind this gate it is signed and sent.

Pages come with a politeness slot (their lease). robots.txt, sitemaps of other hosts and anything a component downloads
on its own have none and wait here for one; so does a page whose slot was used up by the robots.txt in front of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class GivesTurns(Protocol):
    """A scheduler that knows whose turn it is at a host."""

    async def turn(self, request: Request) -> None:
        """Wait until this very request may be sent. Raises: PutBack, Exhausted."""

    def may_be_sent(self, request: Request) -> bool:
        """True where that still holds, just before the request is written."""


class PolitenessGate:
    """Downloader middleware; behind it stands only what signs. The scheduler refuses to start without it."""

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
        await cast("GivesTurns", engine.scheduler).turn(request)
