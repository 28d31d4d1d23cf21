"""What is on hold comes back by itself in a crawl without end, which has no later run to bring it back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

LOOK_SECONDS = 5.0  # between two looks at what is due


async def bring_back_held(frontier: Frontier, idle_seconds: float, every: float = LOOK_SECONDS) -> None:
    """Queue URLs on hold whose time has come, where workers wait for work for ever (`idle_seconds` 0).

    In a crawl that ends they do not keep it from ending: LEASE brings them back while there is other work, and the
    start of a later run does. Here a host that could not be judged when the queues ran dry would be left for good.
    """
    while idle_seconds == 0:
        await asyncio.sleep(every)
        await frontier.control.requeue("due")
