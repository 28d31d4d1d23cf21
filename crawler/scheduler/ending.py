"""A crawl that is to end while a server is away says what it waits for, and where it has failed waits no longer.

Pages in hand want to write to the frontier and to the duplicate index, which may have a server of its own, and the
engine closes after the last of them. Who stopped the crawl can send a second signal; a crawl that stopped by itself has
nobody who does: the disk that is full may be the server's, too.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Protocol

from crawler.number import number_of
from crawler.statkeys import FATAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.statscollectors import StatsCollector

    from crawler.scheduler.engine_view import EngineView

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 10.0
"""How long a crawl that has failed waits for a server that is away."""


LOOK_SECONDS = 1.0


class Awaited(Protocol):
    """A server that calls wait for."""

    @property
    def away_seconds(self) -> float:
        """For how long some call has been waiting; 0 where none does."""
        ...


class Ending:
    """Looks at a crawl that is to end. `look` is called from time to time while the spider closes: `run` does it."""

    def __init__(self, engine: EngineView, stats: StatsCollector, server: Awaited, in_hand: Callable[[], int]) -> None:
        self._engine, self._stats, self._servers, self._in_hand = engine, stats, [server], in_hand
        self._said = self._over = self._failed = False

    def watch(self, server: Awaited) -> None:
        """Look at this server, too."""
        self._servers.append(server)

    def failed(self) -> None:
        """The crawl stops by itself, for a reason that the counters do not have as fatal."""
        self._failed = True

    async def run(self) -> None:
        """Look as long as the crawl lives: a task of its own, so that nothing that asks the server ends it."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._engine.is_open and self._engine.closing:
                self.look()

    def look(self) -> None:
        """Say once what is waited for; cut off a crawl that has failed and whose server stays away."""
        away = max(server.away_seconds for server in self._servers)
        if not away or self._over:
            return
        if self._failed or self._stats.get_value(FATAL):
            if away > PATIENCE_SECONDS:
                self._over = True
                log.warning("the server is unreachable as well; rerun the same command to resume %s", self._pages())
                self._engine.cut_off()
        elif not self._said:
            self._said = True
            log.warning(
                "the crawl is ending and waits for its server to settle %s; a second signal (Ctrl-C or "
                "SIGTERM) ends it at once, and the same command resumes what is in hand",
                self._pages(),
            )

    def _pages(self) -> str:
        return number_of(self._in_hand(), "page")
