"""The counters of a worker: its own from Scrapy's statistics, those of the whole crawl from the frontier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crawler.frontier.model import Mode
from crawler.observe.outcomes import outcomes
from crawler.scheduler.scheduler import frontier_of
from crawler.statkeys import KEPT, PAGE_REQUESTS, RECRAWL, REPLAY, RESPONSE_BYTES, RESPONSES, rejected_by

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.observe.live.progress import ArchiveCounters, Counters


async def counters_of(crawler: Crawler) -> Counters:
    """Where the crawl stands; one call to the frontier. Raises what the frontier raises when it cannot be reached."""
    counters = own_counters(crawler)
    scheduler = frontier_of(crawler)
    if scheduler is not None:
        frontier = await scheduler.frontier.counts()
        counters.queued, counters.leased, counters.held = frontier.queued, frontier.leased, frontier.held
        counters.paused = frontier.mode is Mode.PAUSE
        counters.domains = scheduler.scopes
    return counters


def own_counters(crawler: Crawler) -> Counters:
    """What this worker has done, without asking anybody."""
    from crawler.observe.live.progress import Counters  # draws: not loaded where nobody looks

    assert crawler.stats is not None
    stats = crawler.stats.get_stats()
    rejected = rejected_by(stats)
    return Counters(
        pages=stats.get(PAGE_REQUESTS, 0),
        fetched=stats.get(RESPONSES, 0),
        fetched_bytes=stats.get(RESPONSE_BYTES, 0),
        kept=stats.get(KEPT, 0),
        rejected=rejected,
        as_before=max(0, stats.get(f"{RECRAWL}unchanged", 0) - outcomes(rejected).unchanged),
        archives=_archives(stats),
    )


def _archives(stats: Mapping[str, Any]) -> ArchiveCounters | None:
    """What a replay has counted; None in a crawl."""
    from crawler.observe.live.progress import ArchiveCounters

    if f"{REPLAY}archives" not in stats:
        return None
    return ArchiveCounters(stats.get(f"{REPLAY}bytes_judged", 0), stats.get(f"{REPLAY}bytes_total"))
