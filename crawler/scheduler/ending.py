"""A crawl that is to end while its server is away says what it waits for, and where it has failed waits no longer.

Pages in hand want to write to the server, and the engine closes after the last of them. Who stopped the crawl can send
a second signal; a crawl that stopped by itself has nobody who does: the disk that is full may be the server's, too.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawler.number import number_of
from crawler.statkeys import FATAL

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from crawler.scheduler.engine_view import EngineView
    from crawler.scheduler.in_flight import InFlight
    from crawler.server.client import ServerClient

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 10.0
"""How long a crawl that has failed waits for a server that is away."""


class Ending:
    """Looks at a crawl that is to end. `look` is called from time to time while the spider closes."""

    def __init__(self, engine: EngineView, stats: StatsCollector, server: ServerClient, in_flight: InFlight) -> None:
        self._engine, self._stats, self._server, self._in_flight = engine, stats, server, in_flight
        self._said = self._over = False

    def look(self) -> None:
        """Say once what is waited for; cut off a crawl that has failed and whose server stays away."""
        if not self._server.away_seconds or self._over:
            return
        if self._stats.get_value(FATAL):
            if self._server.away_seconds > PATIENCE_SECONDS:
                self._over = True
                log.warning("the server is away, too: the same command fetches %s again", self._pages())
                self._engine.cut_off()
        elif not self._said:
            self._said = True
            log.warning(
                "the crawl is to end, and waits for its server with %s in hand; a second signal (Ctrl-C or "
                "SIGTERM) ends it at once, and the same command fetches what is in hand again",
                self._pages(),
            )

    def _pages(self) -> str:
        return number_of(len(self._in_flight), "page")
