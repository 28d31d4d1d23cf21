"""A running crawl is looked at while somebody watches: its frontier on the server, its journals on the disk.

All who watch share one look. The next one waits until its cost is `SHARE` of the time at most, so that the crawl keeps
the machine; where nobody watches nothing is asked. Each look has a connection of its own: none is left behind.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from crawler.config import Config
from crawler.explore.journals import Journals, Written
from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.model import Mode
from crawler.frontier.overview import Overview, ScopeView, overview
from crawler.frontier.rules import adopt_rules
from crawler.observe.standing import standing
from crawler.server.errors import FrontierError
from crawler.server.location import frontier_url
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place

EVERY_SECONDS = 2.0
"""Between two looks, at least."""
SHARE = 0.01
"""Of the time that looking may take: after a look of 0.2 s the next one waits 20 s."""
PATIENCE_SECONDS = 5.0
"""How long the server of the frontier may take to answer a look."""
DOMAINS = 20
"""Domains that are shown: those with the longest queues."""
_TICK_SECONDS = 0.2
NOBODY = "No crawl is running here: its frontier does not answer"


@dataclass(frozen=True, slots=True)
class Look:
    """One moment. view: None where the frontier does not answer, and `problem` why. delay: the crawl's own, seconds.
    standing: how the corpus stands, as report and `frontier status` say it.
    """

    number: int
    written: Written
    view: Overview | None
    problem: str
    delay: float
    standing: str = ""

    def ends_in(self, scope: ScopeView) -> float | None:
        """Seconds until the queue of a domain is empty, at the earliest; None where it stands still or has ended."""
        if not (scope.queued or scope.leased) or scope.paused or self.view is None:
            return None
        if self.view.counts.mode is not Mode.RUN:
            return None
        turns = max(0, scope.queued - 1)  # after the next one
        return max(scope.next_in, scope.blocked_for) + turns * max(scope.delay, self.delay)


class Live:
    """The crawl of one corpus. All methods but `close` belong to the event loop of the web server."""

    def __init__(self, config: Config, place: Place, clock: Callable[[], float] = time.monotonic) -> None:
        self.config = config
        self._clock, self._place, self._journals = clock, place, Journals(place)
        self._last: Look | None = None
        self._next_at = 0.0
        self._looking = asyncio.Lock()
        self._ending = threading.Event()
        self.watching = 0

    def close(self) -> None:
        """Let every stream end; from any thread."""
        self._ending.set()

    async def look(self) -> Look:
        """The latest look, a new one where it is time for it."""
        async with self._looking:
            if self._last is None or self._clock() >= self._next_at:
                begun = self._clock()
                written = await asyncio.to_thread(self._journals.read)
                view, problem, delay = await self._view()
                number = self._last.number + 1 if self._last else 0
                said = await asyncio.to_thread(self._standing, view)
                self._last = Look(number, written, view, problem, delay, said)
                now = self._clock()
                self._next_at = now + max(EVERY_SECONDS, (now - begun) / SHARE)
            return self._last

    def soon(self) -> None:
        """Look again at the next question: somebody has changed something."""
        self._next_at = 0.0

    async def watch(self) -> AsyncGenerator[Look]:
        """Every new look, until whoever asks goes away or `close` is called."""
        self.watching += 1
        try:
            shown = -1
            while not self._ending.is_set():
                look = await self.look()
                if look.number != shown:
                    shown = look.number
                    yield look
                await asyncio.sleep(_TICK_SECONDS)
        finally:
            self.watching -= 1

    def _standing(self, view: Overview | None) -> str:
        """One that cannot be read now is told by the page that reads it."""
        try:
            return standing(self._place, self._place.manifest(), view).sentence
        except StorageError:
            return ""

    async def _view(self) -> tuple[Overview | None, str, float]:
        """What the frontier says, or why it says nothing; and the crawl's own delay."""
        config = self.config
        frontier = Frontier(frontier_url(config), config.crawl.crawl_id, limits_of(config))
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await frontier.open()  # an embedded server is asked only while a crawl keeps it
                await adopt_rules(frontier)
                return await overview(frontier, top=DOMAINS), "", frontier.limits.delay
        except (FrontierError, TimeoutError, OSError) as error:
            return None, str(error) if config.crawl.redis_url and str(error) else NOBODY, 0.0
        finally:
            await frontier.close()
