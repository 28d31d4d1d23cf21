"""The configuration says which limits the frontier keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.model import Limits

if TYPE_CHECKING:
    from crawler.config import Config


def limits_of(config: Config) -> Limits:
    """The frontier's limits as configured."""
    f = config.frontier
    return Limits(
        delay=f.delay_seconds,
        concurrency=f.concurrency,
        latency_factor=f.latency_factor,
        lease_seconds=f.lease_seconds,
        tries=f.retry_times + 1,
        max_pages=f.max_pages_per_domain,
        total_pages=f.max_pages,
        depth=f.depth_limit,
        patience=f.patience_seconds,
        scope_by=f.scope_by,
        shards=f.shards,
        max_queued=f.max_queued_per_domain,
        breaker_failures=f.breaker_failures,
        breaker_pause=f.breaker_seconds,
        breaker_longest=f.breaker_max_seconds,
        slowdown=f.slowdown_max_seconds,
        barren=f.barren_pages,
        explore=f.explore,
        quality_weight=f.quality_weight,
    )
