"""The recrawl of one worker: what is due comes back, every visit is remembered and counted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from crawler.document import Document, DropReason
from crawler.frontier.visits import visit_entry
from crawler.recrawl.visit import Intervals, Visit, has_failed, is_changed, visit_after
from crawler.statkeys import RECRAWL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.statscollectors import StatsCollector

    from crawler.config import FrontierConfig
    from crawler.frontier.client import Frontier
    from crawler.frontier.model import Lease
    from crawler.urls.link import Link

TEXTS_FREED = "texts-freed"
"""Blob: the latest time (epoch seconds, as text) at which a page released a text that others have, too."""
FOREVER_SECONDS = 10 * 365 * 86_400.0
_SWEEP_SECONDS = 5.0  # between two looks at what is due, in a crawl without end


class Revisits:
    """Counts `recrawl/…` where RECRAWL is on: what was due, what was found (`_kind_of`), what was saved."""

    def __init__(self, stats: StatsCollector, config: FrontierConfig, frontier: Frontier) -> None:
        self._stats = stats
        self._config = config
        self._frontier = frontier
        self._intervals = Intervals.of(config)

    async def begin(self) -> None:
        """Bring back what is due now: this is the work of a crawl that ends."""
        if self._config.recrawl:
            visits = self._frontier.visits
            visits.freed_at = max(visits.freed_at, float(await self._frontier.shared.get_blob(TEXTS_FREED) or 0.0))
            if not await self._goes_on():
                self._count("due", await visits.sweep(self._intervals))

    async def _goes_on(self) -> bool:
        """True where everything is due at once and a run that was cut off had not come through with it: its visits are
        not due again before the rest has been visited."""
        if self._intervals.first > 0 or self._config.idle_seconds == 0:
            return False
        counts = await self._frontier.counts()
        waits = counts.queued + counts.leased > 0
        return waits and await self._frontier.visits.in_play() > counts.held

    async def run(self) -> None:
        """Bring back what becomes due, in a crawl that does not end by itself."""
        while self._config.recrawl and self._config.idle_seconds == 0:
            await asyncio.sleep(_SWEEP_SECONDS)
            await self.begin()

    async def hasten(self, links: Iterable[Link]) -> int:
        """Bring back the pages that were changed after their last visit; returns how many."""
        if not self._config.recrawl:
            return 0
        moved = await self._frontier.visits.hasten((c.url, c.lastmod) for c in links if c.lastmod is not None)
        self._count("due", moved)
        return moved

    async def freed(self, at: float) -> None:
        """A text that several pages have is nobody's any more: the others are to be judged again, by every worker."""
        self._frontier.visits.freed_at = max(self._frontier.visits.freed_at, at)
        await self._frontier.shared.put_blob(
            TEXTS_FREED, f"{self._frontier.visits.freed_at:.3f}".encode(), FOREVER_SECONDS
        )

    def entry(self, lease: Lease, doc: Document | None) -> bytes:
        """What the frontier is to remember of this visit; empty for nothing."""
        if doc is None or not self._config.recrawl_remember:
            return b""
        visit = visit_after(lease.visit, doc, self._intervals, self._frontier.now())
        if self._config.recrawl and lease.kind == "page":
            self._count(_kind_of(lease.visit, doc), 1)
            if lease.visit is not None and doc.http_status == 304:
                self._count("not_sent_bytes", lease.visit.size)
            if doc.verdict is not None and doc.verdict.reason is DropReason.UNCHANGED:
                self._count("not_parsed", 1)
        return visit_entry(lease.url, visit)

    def _count(self, name: str, n: int) -> None:
        self._stats.inc_value(RECRAWL + name, n)


_NOES = {
    DropReason.OPTOUT: "opted_out",
    DropReason.ROBOTS_DISALLOWED: "refused",
    DropReason.ACCESS_DENIED: "refused",
    DropReason.WITHDRAWN: "withdrawn",
}
"""Somebody says no by now."""


def _kind_of(previous: Visit | None, doc: Document) -> str:
    if has_failed(doc):
        return "failed"
    if previous is None:
        return "new"
    if not is_changed(previous, doc):
        return "unchanged"
    if doc.verdict is None:
        return "changed"
    return _NOES.get(doc.verdict.reason) or (doc.verdict.reason.value if doc.verdict.reason.ends else "changed")
