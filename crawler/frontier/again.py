"""What failed is tried again: by a later run where an outage stopped it, and by `requeue failed` all of it.

An outage is a host whose latest answers were failures, or that never answered at all. A URL that failed on a host that
answers stays given up until somebody asks for it.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from crawler.document import DropReason
from crawler.frontier.model import REOPENED, REOPENED_SECONDS
from crawler.number import number_of

if TYPE_CHECKING:
    from crawler.frontier.client import Frontier

logger = logging.getLogger(__name__)

DOUBTS = (DropReason.HOLD_ROBOTS_UNREACHABLE, DropReason.HOLD_CONTROL_FILE, DropReason.HOLD_NO_CONTACT)
"""Holds that end once a file can be read, or a contact is named: a later run looks, whatever was planned."""
FAILURES = (DropReason.HTTP_ERROR, DropReason.DOWNLOAD_FAILED)
"""Failed tries after which the frontier waits: a later run does not."""
DISTRUST, DISTRUST_SECONDS = "control-files-since", 2 * 86_400.0
"""Blob: a time (epoch seconds, as text). A control file that could not be read, or was denied, before it is asked for
again by whoever needs it. No such answer is believed for longer than this blob is kept."""


async def after_outage(frontier: Frontier) -> int:
    """At the start of a run, where nothing of the crawl is left to do: bring back what an outage had stopped.

    Returns how many URLs. A crawl that others are at work on is left alone.
    """
    if (await frontier.counts()).pending:
        return 0
    moved = await _again(frontier, outage=True)
    if moved:
        logger.warning("%s that failed, or could not be judged, in an outage: tried again", number_of(moved, "URL"))
    return moved


async def retry_failed(frontier: Frontier, scope: str = "", reason: str = "") -> int:
    """Every dead letter and every hold out of doubt goes back into its queue; returns how many."""
    return await _again(frontier, outage=False, scope=scope, reason=reason)


async def _again(frontier: Frontier, *, outage: bool, scope: str = "", reason: str = "") -> int:
    await _distrust(frontier)
    control = frontier.control
    dead = await control.requeue("dead", scope=scope, reason=reason, outage=outage)
    if dead:
        await frontier.shared.put_blob(REOPENED, b"1", REOPENED_SECONDS)
    wanted = [hold.value for hold in DOUBTS if reason in hold.value]
    wanted_later = [failure.value for failure in FAILURES if reason in failure.value]
    later = sum([await control.requeue("later", scope=scope, reason=failure) for failure in wanted_later])
    held = sum([await control.requeue("held", scope=scope, reason=hold) for hold in wanted])
    await _forgive(frontier, scope)
    return dead + later + held


async def _distrust(frontier: Frontier) -> None:
    await frontier.shared.put_blob(DISTRUST, f"{frontier.now():.3f}".encode(), DISTRUST_SECONDS)


async def _forgive(frontier: Frontier, only: str) -> None:
    """Hosts that were left alone because they did not answer may be asked.

    An answer from before the outage, settled late, closes a breaker and leaves its pause: hosts that wait are asked for
    as well (`forgive.lua` ends no other pause than a breaker's).
    """
    connection, redis = frontier.connection, frontier.connection.redis
    for shard in range(frontier.limits.shards):
        prefix = frontier.prefix(shard)
        broken = await connection.patiently(partial(redis.hkeys, f"{prefix}breaker"))
        blocked = await connection.patiently(partial(redis.zrange, f"{prefix}blocked", 0, -1))
        names = sorted({name.decode() for name in [*broken, *blocked]})
        wanted = [name for name in names if name == only or not only]
        if wanted:
            await frontier.run("forgive", shard, wanted)
