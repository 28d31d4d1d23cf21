"""A frontier that was lost learns again what its crawl had finished: URLs that are done, and their last visits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from crawler.frontier.model import PutStatus
from crawler.frontier.packing import pack, shard_of
from crawler.frontier.script_call import ScriptCalls
from crawler.urls.candidate import Candidate

EXPRESS = 1000
"""A priority with which a URL finds a place in its queue, however full that is (`put.lua`)."""


class Adopt(ScriptCalls):
    """What `Frontier` can do for a crawl whose records are there and whose frontier is not."""

    put: Callable[[list[Candidate]], Awaitable[list[PutStatus]]]
    scope_of: Callable[[str], str]

    async def adopt(self, finished: Iterable[tuple[str, bytes]]) -> int:
        """These canonical URLs are done: seen, and in no queue. With each what `visit_entry` made of its last visit, or
        b"". Returns how many were new here. Harmless when repeated; for a frontier that nobody leases from meanwhile.
        """
        known = dict(finished)
        await self.put([Candidate(url, EXPRESS) for url in known])
        by_shard: dict[int, list[Any]] = defaultdict(list)
        for url, visit in known.items():
            scope = self.scope_of(url)
            by_shard[shard_of(scope, self.limits.shards)] += [scope, pack(url, scope, kind="page", depth=0), visit]
        return sum([int(await self._run("adopt", shard, args)) for shard, args in by_shard.items()])
