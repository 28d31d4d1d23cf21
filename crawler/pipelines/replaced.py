"""At the end of a run the records that it replaced leave the corpus: of a second run, or of visits that had failed.

After a replay, and where several crawls share a corpus, also what another archive or crawl had of the same pages: a
page is its canonical URL, whoever fetched it, and its newest verdict stays.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from crawler.dataset.remote import open_runs
from crawler.dataset.supersede import has_doubled, is_pending, is_shared, supersede, supersede_doubled, way_out
from crawler.frontier.model import REOPENED
from crawler.storage.files.errors import AtWorkError, StorageError

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier
    from crawler.storage.files.place import Place

logger = logging.getLogger(__name__)


async def take_out_replaced(
    place: Place, frontier: Frontier | None, *, again: bool, ended: bool, recorded: bool = True, parts: int = 1
) -> None:
    """Make the next version of the corpus where records of it were replaced.

    frontier: None for a replay. again: a second run, or a replay of its archive. ended: nothing waits any more.
    recorded: this run recorded something. parts: processes that replay into this corpus together.
    Raises: StorageError where it was not done, and nobody else is at work who does it at the end.
    """
    reopened = frontier is not None and await frontier.shared.get_blob(REOPENED) is not None
    operation: Callable[..., object]
    if reopened or (again and is_pending(place.manifest())):
        operation = supersede
    elif frontier is None or (recorded and is_shared(place.manifest())):
        operation = supersede_doubled
    else:
        return
    if place.remote and frontier is not None:
        logger.warning(
            "the corpus is not on a local disk and %s records that were replaced; once every worker has ended, %s",
            "keeps" if operation is supersede else "may keep",
            way_out(place),
        )
        done = True  # somebody's own to do
    elif place.remote and parts > 1:
        done = await asyncio.to_thread(_leave_to_a_person, place, operation)
    else:
        now = time.time() if frontier is None else frontier.now()
        done = await asyncio.to_thread(_make_version, place, operation, now)
    if done and ended and reopened and frontier is not None:
        await frontier.shared.put_blob(REOPENED, b"", 0.001)


def _make_version(place: Place, operation: Callable[..., object], now: float) -> bool:
    """The last worker to end does it for all; True where it was done."""
    try:
        operation(place, now=now)
    except StorageError as error:
        if not isinstance(error, AtWorkError):
            raise _undone(f"{error}; {way_out(place)}") from error
        logger.warning("%s (%s)", way_out(place), error)
        return False
    _leave_images(place, now)
    return True


def _leave_images(place: Place, now: float) -> None:
    """Images of what was replaced leave their data sets, too, where there are some."""
    from crawler.dataset.lifetimes import Lifetimes
    from crawler.images.withdraw import withdraw_from_images

    for left in withdraw_from_images(place, Lifetimes({}), now=now):
        if left.problem:
            logger.warning("%s", left.problem)


def _leave_to_a_person(place: Place, operation: Callable[..., object]) -> bool:
    """Parts of a replay may end together, and no lock of a store would keep two of them from doing it at once.

    False: other parts are not through. Raises: StorageError, the last of them, so that somebody does it.
    """
    if others := open_runs(place):
        logger.warning("once the other parts have ended (%s for one), %s", others[0].writer, way_out(place))
        return False
    if operation is supersede or has_doubled(place):
        raise _undone(way_out(place))
    return True


def _undone(why: str) -> StorageError:
    return StorageError(f"every page is recorded, but records that were replaced or withdrawn are still there: {why}")
