"""First on every leased request: does its allowlist entry still say yes?

A URL may wait in the frontier for months after it was let in. Where its licence has expired meanwhile, or a newer
allowlist excludes its path, no request leaves for it, not even for its host's robots.txt, and the refusal is recorded.
Outside the hours that the entry gives, the host is blocked until they begin, for all workers, and the URL goes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.document import Drop, DropReason
from crawler.frontier.model import Lease
from crawler.middlewares.outcomes import Denied
from crawler.scheduler.scheduler import frontier_of
from crawler.scheduler.turned_away import PutBack
from crawler.seeds.scope import Admission, AdmissionReason

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.seeds.scope import Scope

    Block = Callable[[str, float, str], Awaitable[None]]
    """Nobody asks the host of this URL before a time, for this reason."""


class LicenceMiddleware:
    """Enforces the allowlist at lease time. `covering` answers the rules of the crawl as they are now."""

    def __init__(self, covering: Callable[[str], Awaitable[Scope | None]], block: Block) -> None:
        self._covering, self._block = covering, block

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The rules are the spider's; one without `shared` rules (a replay) has no allowlist."""

        async def covering(url: str) -> Scope | None:
            shared: Any = getattr(crawler.spider, "shared", None)
            return None if shared is None else await shared.covering(url)

        async def block(url: str, until: float, reason: str) -> None:
            if (frontier := frontier_of(crawler)) is not None:
                await frontier.block(url, until, reason)

        return cls(covering, block)

    async def process_request(self, request: Request) -> None:
        """Raises: Denied, PutBack."""
        lease = request.meta.get("lease")
        if not isinstance(lease, Lease):
            return  # control files are fetched for a page that was asked about
        scope = await self._covering(lease.url)
        refusal = None if scope is None else scope.refusal_of(lease.url, lease.kind)
        if refusal is not None:
            raise Denied(_drop(refusal))
        until, hours = (0.0, "") if scope is None else scope.opens_at(lease.url)
        if until:
            await self._block(lease.url, until, f"{DropReason.HOLD_HOURS}: crawled only at {hours}")
            raise PutBack(until)


def _drop(refusal: Admission) -> Drop:
    entry = refusal.entry
    assert entry is not None, "only an allowlist entry refuses what was let in before"
    if refusal.reason is AdmissionReason.LICENCE_EXPIRED:
        detail = f"{entry.domain}: {entry.licence} held until {entry.expires}"
        return Drop("frontier", DropReason.LICENCE_EXPIRED, detail[:512])
    return Drop("frontier", DropReason.OFF_SCOPE, f"{refusal.reason} by the allowlist entry {entry.domain}")
