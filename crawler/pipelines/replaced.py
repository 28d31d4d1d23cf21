"""At the end of a run the records that it replaced leave the corpus: of a second run, or of visits that had failed.

After a replay also the pages of which a later version, in whatever archive, says no.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from crawler.dataset.supersede import has_opted_out, is_pending, supersede, withdraw_opted_out
from crawler.frontier.model import REOPENED
from crawler.storage.files.errors import StorageError

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier
    from crawler.storage.files.place import Place

logger = logging.getLogger(__name__)


async def take_out_replaced(place: Place, frontier: Frontier | None, *, again: bool, ended: bool) -> None:
    """Make the next version of the corpus where records of it were replaced.

    frontier: None for a replay. again: a second run, or a replay of its archive. ended: nothing waits any more.
    """
    reopened = frontier is not None and await frontier.get_blob(REOPENED) is not None
    if reopened or (again and is_pending(place.manifest())):
        done = await asyncio.to_thread(_make_version, place, supersede)
        if done and ended and reopened and frontier is not None:
            await frontier.put_blob(REOPENED, b"", 0.001)
    elif frontier is None and any(has_opted_out(entry) for entry in place.manifest()["files"]):
        await asyncio.to_thread(_make_version, place, withdraw_opted_out)


def _make_version(place: Place, operation: Callable[..., object]) -> bool:
    """The last worker to end does it for all; True where it was done, or is somebody's own to do."""
    later = f"`scrapy dataset supersede {place.url}` takes out what was replaced"
    if place.remote:
        logger.warning("the corpus is not on a local disk: %s", later)
        return True
    try:
        operation(place, now=time.time())
    except StorageError as error:
        logger.warning("%s (%s)", later, error)
        return False
    return True
