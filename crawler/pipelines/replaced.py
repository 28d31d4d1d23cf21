"""At the end of a run the records that it replaced leave the corpus: of a second run, or of visits that had failed."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from crawler.dataset.supersede import is_pending, supersede
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
    if not reopened and not (again and is_pending(place.manifest())):
        return
    done = await asyncio.to_thread(_supersede, place)
    if done and ended and reopened and frontier is not None:
        await frontier.put_blob(REOPENED, b"", 0.001)


def _supersede(place: Place) -> bool:
    """The last worker to end does it for all; True where it was done, or is somebody's own to do."""
    later = f"`scrapy dataset supersede {place.url}` takes out what was replaced"
    if place.remote:
        logger.warning("the corpus is not on a local disk: %s", later)
        return True
    try:
        supersede(place, now=time.time())
    except StorageError as error:
        logger.warning("%s (%s)", later, error)
        return False
    return True
