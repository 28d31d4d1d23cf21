"""A frontier that was lost learns again what its crawl had finished: URLs that are done, and their last visits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from crawler.frontier.member import pack
from crawler.urls.link import link_to

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier
    from crawler.urls.canonicalize import Address

EXPRESS = 1000
"""A priority with which a URL finds a place in its queue, however full that is (`put.lua`)."""


async def adopt(frontier: Frontier, finished: Iterable[tuple[Address, bytes]]) -> int:
    """These pages are done: seen, and in no queue. Returns how many were new here.

    With each what `visit_entry` made of its last visit, or b"". Harmless when repeated; for a frontier that nobody
    leases from meanwhile.
    """
    known = {link_to(to, priority=EXPRESS): visit for to, visit in finished}
    await frontier.put(list(known))
    by_shard: dict[int, list[Any]] = defaultdict(list)
    for link, visit in known.items():
        scope = frontier.scope_of(link.url)
        by_shard[frontier.shard_of_scope(scope)] += [scope, pack(link, scope), visit]
    return sum([int(await frontier.run("adopt", shard, args)) for shard, args in by_shard.items()])
