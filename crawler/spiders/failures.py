"""A failed request becomes an outcome: a verdict to record, another try, a hold, or a redirect's target."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from crawler.document import Drop, DropReason
from crawler.frontier.model import Fault
from crawler.middlewares.outcomes import Denied, Held, Redirected, TryLater
from crawler.middlewares.retry import describe
from crawler.policy.headers import shown_url
from crawler.scheduler.turned_away import Exhausted
from crawler.urls.canonicalize import Address

if TYPE_CHECKING:
    from twisted.python.failure import Failure

    from crawler.frontier.model import Lease
    from crawler.scheduler.scheduler import Scheduler

logger = logging.getLogger(__name__)


Named = Callable[[str], Address | None]
"""What a crawl calls a URL, and how it was found."""


def redirect_of(error: BaseException | None, lease: Lease, limit: int, named: Named) -> Address | Drop | None:
    """Where a redirect leads; a `Drop` where it leads nowhere; None where there is none."""
    return next_of(error.target, lease, limit, named) if isinstance(error, Redirected) else None


def drop_of(error: Exception) -> Drop:
    """Why a page that is asked for once, without a frontier, is not there."""
    if isinstance(error, (Denied, Held, TryLater)):
        return error.drop
    cause = describe(error) if isinstance(error, IgnoreRequest) else f"{type(error).__name__}: {error}"
    return Drop("fetch", DropReason.DOWNLOAD_FAILED, cause)


def next_of(to: str, lease: Lease, limit: int, named: Named) -> Address | Drop:
    """The next URL of a chain of redirects; a `Drop` where it leads nowhere.

    A loop is one of requests: a server that wants another spelling of the same page leads on.
    """
    target = named(to)
    if target is None:
        return Drop("frontier", DropReason.OFF_SCOPE, f"redirects to {shown_url(to)}")
    chain = (*lease.link.redirects, lease.asked)
    if target.asked in chain:
        return Drop("frontier", DropReason.TOO_MANY_REDIRECTS, f"loops back to {target.asked}"[:512])
    if len(chain) > limit:
        return Drop("frontier", DropReason.TOO_MANY_REDIRECTS, f"more than {limit}, next would be {target.asked}"[:512])
    return target


def unspelled(verdict: Drop | None, lease: Lease) -> Address | None:
    """The name of a URL, to be asked for where robots.txt disallows only the spelling in which it was found."""
    if verdict is None or verdict.reason is not DropReason.ROBOTS_DISALLOWED or not lease.link.found:
        return None
    return None if lease.url in lease.link.redirects else Address(lease.url)


async def outcome_of(failure: Failure, lease: Lease, frontier: Scheduler) -> Drop | None:
    """Tell the frontier what to do with the URL; answer the verdict to record, or None where it stays queued.

    Where no try is left the frontier keeps the lease until the verdict is on the disk, then files a dead letter.
    """
    error = failure.value
    if isinstance(error, Held):
        logger.info("on hold: %s", error)
        await frontier.hold(lease.token, error.until, f"{error.drop.reason}: {error.drop.detail}")
        return None
    if isinstance(error, TryLater):
        if error.host_wide and error.not_before is not None:
            await frontier.block(lease.url, error.not_before, error.drop.reason.value)
        fault = Fault.LOAD if error.host_wide and error.not_before is None else Fault.HOST
        again = await frontier.retry(lease.token, error.not_before, error.drop.reason.value, fault=fault)
        return None if again else error.drop
    if isinstance(error, (Denied, Exhausted)):
        return error.drop
    return Drop("fetch", DropReason.DOWNLOAD_FAILED, f"{type(error).__name__}: {error}"[:300])
