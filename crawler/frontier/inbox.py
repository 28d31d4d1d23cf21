"""Between spiders and PUT: links that were put lately stay here, the others leave in batches."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from crawler.frontier.batching import Batcher
from crawler.frontier.model import Candidate, PutStatus
from crawler.frontier.packing import url_hash

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

_REMEMBERED = 100_000  # URL hashes that need not be sent again
_LISTS = 64  # pages whose links share a call


class Inbox:
    """Puts through a small memory of what the frontier has. `stir` is called where something new was queued."""

    def __init__(self, frontier: Frontier, stir: Callable[[], None], remembered: int = _REMEMBERED) -> None:
        self._frontier = frontier
        self._stir = stir
        self._remembered = remembered
        self._known: OrderedDict[int, None] = OrderedDict()
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
        hashes = [url_hash(c.url) for c in candidates]
        fresh = [c for c, h in zip(candidates, hashes, strict=True) if h not in self._known]
        answers = iter(await self._puts(fresh) if fresh else ())
        result = [PutStatus.SEEN if h in self._known else next(answers, PutStatus.SEEN) for h in hashes]
        self._remember(h for h, s in zip(hashes, result, strict=True) if s in (PutStatus.QUEUED, PutStatus.SEEN))
        if PutStatus.QUEUED in result:
            self._stir()
        return result

    async def _send(self, lists: list[list[Candidate]]) -> list[list[PutStatus]]:
        answers = iter(await self._frontier.put([candidate for part in lists for candidate in part]))
        return [[next(answers) for _ in part] for part in lists]

    def _remember(self, hashes: Iterable[int]) -> None:
        for h in hashes:
            self._known[h] = None
            self._known.move_to_end(h)
        while len(self._known) > self._remembered:
            self._known.popitem(last=False)
