"""`gristmill frontier export` shows the frontier to Prometheus until it is stopped: one process for each crawl."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait

from crawler.frontier.client import Frontier
from crawler.frontier.overview import overview
from crawler.observe.metrics.endpoint import served
from crawler.observe.metrics.frontier import FrontierCollector, Look
from crawler.observe.metrics.health import Pulse
from crawler.server.errors import FrontierError

FRESH_SECONDS = 5.0
"""A look is used again for so long: two Prometheus servers cost the frontier no more than one."""
MOST_SHARE = 0.1
"""Of the time that may go into looks: one of two seconds (10⁵ domains, bench.speed.scrape) is used for 20."""
PATIENCE_SECONDS = 9.0
"""Prometheus itself gives up after ten (its default scrape_timeout); a look that takes longer goes on meanwhile."""
FIRST_SECONDS = 60.0
"""Where nobody knows yet how long a look takes: when the frontier is said not to answer."""
SLOWER = 4.0
"""A look that takes so many times as long as the one before (and longer than PATIENCE_SECONDS) is given up."""


class Looks:
    """Looks at the frontier from other threads: one look at a time, at most once in FRESH_SECONDS."""

    def __init__(
        self, frontier: Frontier, loop: asyncio.AbstractEventLoop, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._frontier, self._loop, self._clock = frontier, loop, clock
        self._lock = threading.Lock()
        self._looking: Future[Look] | None = None
        self._last: Look | None = None
        self._began = self._ended = 0.0
        self._took: float | None = None  # seconds of the look before; None until there was one

    def __call__(self) -> Look | None:
        """The latest look; None where the frontier does not answer in time."""
        with self._lock:
            if self._looking is None and self._is_due():
                self._began = self._clock()
                self._looking = asyncio.run_coroutine_threadsafe(self._look(), self._loop)
            looking = self._looking
        if looking is not None:
            wait([looking], PATIENCE_SECONDS)
            with self._lock:
                self._take(looking)
        return self._last

    def _is_due(self) -> bool:
        return self._last is None or self._clock() - self._ended >= max(FRESH_SECONDS, (self._took or 0) / MOST_SHARE)

    def _take(self, looking: Future[Look]) -> None:
        """Remember what was seen, unless another thread has done so; give up what takes too long."""
        if looking is not self._looking:
            return
        if looking.done():
            self._looking = None
            try:
                self._last = looking.result()
            except (FrontierError, CancelledError):
                self._last = None
        elif self._clock() - self._began >= self._limit():
            self._looking = self._last = None
            looking.cancel()

    def _limit(self) -> float:
        return FIRST_SECONDS if self._took is None else max(PATIENCE_SECONDS, SLOWER * self._took)

    async def _look(self) -> Look:
        used, limit = await self._frontier.connection.memory()
        look = Look(await overview(self._frontier), used, limit)
        self._ended = self._clock()
        self._took = self._ended - self._began
        return look


async def export(frontier: Frontier, host: str, port: int, told: Callable[[str], None]) -> None:
    """Serve until cancelled. `told` is given the address once it answers. Raises: EndpointError."""
    looks = Looks(frontier, asyncio.get_running_loop())
    pulse = Pulse()
    probes = {"/live": pulse.problem, "/ready": lambda: "" if looks() else "the frontier does not answer"}
    with served(FrontierCollector(looks), host, port, probes) as used:
        told(f"http://{host}:{used}/metrics")
        await pulse.beat()
