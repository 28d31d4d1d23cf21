"""Links on their way into the frontier: those put lately are known here, the others leave in batches."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from crawler.frontier.model import PutStatus
from crawler.frontier.packing import seen_hash
from crawler.scheduler.acknowledge import SYNCED_SECONDS
from crawler.server.batching import Batcher
from crawler.urls.link import Link

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

_LISTS = 64  # pages whose links share a call


class PutQueue:
    """Puts through a small memory of what the frontier has. `refill` is called where something new was queued."""

    def __init__(self, frontier: Frontier, refill: Callable[[], None], recent: RecentUrls | None = None) -> None:
        self._frontier = frontier
        self._refill = refill
        self._recent = recent or RecentUrls()
        self._young: deque[tuple[float, list[Link]]] = deque()  # of no page; the server could still lose them
        self._puts: Batcher[list[Link], list[PutStatus]] = Batcher(self._send, most=_LISTS)

    @property
    def busy(self) -> bool:
        """True while links are on their way."""
        return self._puts.busy

    async def drain(self) -> None:
        """Until the server has everything."""
        await self._puts.drain()

    async def put(self, links: list[Link], *, of_page: bool = True) -> list[PutStatus]:
        """Add canonical URLs to the frontier; returns once the server has them.

        of_page: a page led to them, which is acknowledged after them. Otherwise nobody else knows of them, so they are
        kept here until the server has had the time to write them down.
        """
        epoch = self._frontier.connection.epoch
        hashes = [seen_hash(c) for c in links]
        known = self._recent.among(hashes, epoch)  # as it is now: others put while we wait
        fresh = [c for c, k in zip(links, known, strict=True) if not k]
        answers = iter(await self._puts(fresh) if fresh else ())
        if not of_page:  # from now on: the server may have been waited for
            self._young.append((time.monotonic(), links))
        result = [PutStatus.SEEN if k else next(answers) for k in known]
        if epoch == self._frontier.connection.epoch:
            there = (PutStatus.QUEUED, PutStatus.SEEN)
            self._recent.add((h for h, s in zip(hashes, result, strict=True) if s in there), epoch)
        if PutStatus.QUEUED in result:
            self._refill()
        return result

    async def put_again(self) -> None:
        """The server may have forgotten its last second: what nobody else knows of is put again; known is known."""
        for _, links in list(self._young):
            await self.put(links)

    def written(self, asked: float) -> None:
        """The server has not been restarted up to `asked` (`time.monotonic()`): what is older than that is on disk."""
        while self._young and self._young[0][0] < asked - SYNCED_SECONDS:
            self._young.popleft()

    async def _send(self, lists: list[list[Link]]) -> list[list[PutStatus]]:
        answers = iter(await self._frontier.put([link for part in lists for link in part]))
        return [[next(answers) for _ in part] for part in lists]


_MOST = 100_000


class RecentUrls:
    """The latest hashes, as far as the server that answered them still vouches for them.

    After a restart the server may have forgotten what it answered last.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._hashes: OrderedDict[int, None] = OrderedDict()
        self._epoch = 0

    def among(self, hashes: list[int], epoch: int) -> list[bool]:
        """Which of these are known in this epoch."""
        if epoch != self._epoch:
            self._hashes.clear()
            self._epoch = epoch
        return [h in self._hashes for h in hashes]

    def add(self, hashes: Iterable[int], epoch: int) -> None:
        """Remember what the server answered in this epoch."""
        if epoch != self._epoch:
            return
        for h in hashes:
            self._hashes[h] = None
            self._hashes.move_to_end(h)
        while len(self._hashes) > self._most:
            self._hashes.popitem(last=False)
