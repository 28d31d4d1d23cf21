"""Between spiders and PUT: links that were put lately stay here, the others leave in batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from crawler.frontier.batching import Batcher
from crawler.frontier.known import Known
from crawler.frontier.model import Candidate, PutStatus
from crawler.frontier.packing import url_hash

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

_LISTS = 64  # pages whose links share a call


class Inbox:
    """Puts through a small memory of what the frontier has. `refill` is called where something new was queued."""

    def __init__(self, frontier: Frontier, refill: Callable[[], None], known: Known | None = None) -> None:
        self._frontier = frontier
        self._refill = refill
        self._known = known or Known()
        self._puts: Batcher[list[Candidate], list[PutStatus]] = Batcher(self._send, most=_LISTS)

    @property
    def busy(self) -> bool:
        """True while links are on their way."""
        return self._puts.busy

    async def drain(self) -> None:
        """Until the server has everything."""
        await self._puts.drain()

    async def put(self, candidates: list[Candidate]) -> list[PutStatus]:
        """Add canonical URLs to the frontier; returns once the server has them."""
        epoch = self._frontier.connection.epoch
        hashes = [url_hash(c.url) for c in candidates]
        known = self._known.among(hashes, epoch)  # as it is now: others put while we wait
        fresh = [c for c, k in zip(candidates, known, strict=True) if not k]
        answers = iter(await self._puts(fresh) if fresh else ())
        result = [PutStatus.SEEN if k else next(answers) for k in known]
        if epoch == self._frontier.connection.epoch:
            there = (PutStatus.QUEUED, PutStatus.SEEN)
            self._known.add((h for h, s in zip(hashes, result, strict=True) if s in there), epoch)
        if PutStatus.QUEUED in result:
            self._refill()
        return result

    async def _send(self, lists: list[list[Candidate]]) -> list[list[PutStatus]]:
        answers = iter(await self._frontier.put([candidate for part in lists for candidate in part]))
        return [[next(answers) for _ in part] for part in lists]
