"""`scrapy frontier export` shows the frontier to Prometheus until it is stopped: one process for each crawl."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from crawler.frontier.client import Frontier
from crawler.frontier.overview import Overview, overview
from crawler.observe.metrics.endpoint import served
from crawler.observe.metrics.frontier import FrontierCollector
from crawler.observe.metrics.health import Pulse
from crawler.server.errors import FrontierError

FRESH_SECONDS = 5.0
"""A look is used again for so long: two Prometheus servers cost the frontier no more than one."""
PATIENCE_SECONDS = 9.0
"""Prometheus itself gives up after ten (its default scrape_timeout)."""


class Looks:
    """Looks at the frontier from another thread, at most once in FRESH_SECONDS."""

    def __init__(
        self, frontier: Frontier, loop: asyncio.AbstractEventLoop, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._frontier, self._loop, self._clock = frontier, loop, clock
        self._last: Overview | None = None
        self._at = -FRESH_SECONDS

    def __call__(self) -> Overview | None:
        """None where the frontier does not answer in time."""
        if self._last is None or self._clock() - self._at >= FRESH_SECONDS:
            looking = asyncio.run_coroutine_threadsafe(overview(self._frontier), self._loop)
            try:
                self._last, self._at = looking.result(PATIENCE_SECONDS), self._clock()
            except (FrontierError, TimeoutError):
                looking.cancel()
                self._last = None
        return self._last


async def export(frontier: Frontier, host: str, port: int, told: Callable[[str], None]) -> None:
    """Serve until cancelled. `told` is given the address once it answers. Raises: EndpointError."""
    looks = Looks(frontier, asyncio.get_running_loop())
    pulse = Pulse()
    probes = {"/live": pulse.problem, "/ready": lambda: "" if looks() else "the frontier does not answer"}
    with served(FrontierCollector(looks), host, port, probes) as used:
        told(f"http://{host}:{used}/metrics")
        await pulse.beat()
