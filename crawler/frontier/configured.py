"""The configuration says which limits the frontier keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.config.address_delays import LATE, USUAL_SECONDS, read_address_delays
from crawler.frontier.model import Limits
from crawler.policy.addresses import AddressDelays

if TYPE_CHECKING:
    from crawler.config import Config


def limits_of(config: Config) -> Limits:
    """The frontier's limits as configured."""
    f = config.frontier
    return Limits(
        delay=f.delay_seconds,
        concurrency=f.concurrency,
        address_delay=_usual_address_delay(f.delay_seconds) if f.address_delay is None else f.address_delay,
        address_delays=read_address_delays(f.address_delays_file) if f.address_delays_file else {},
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
        max_bytes=f.max_bytes_per_domain,
        breaker_failures=f.breaker_failures,
        breaker_pause=f.breaker_seconds,
        breaker_longest=f.breaker_max_seconds,
        slowdown=f.slowdown_max_seconds,
        barren=f.barren_pages,
        explore=f.explore,
        quality_weight=f.quality_weight,
    )


def _usual_address_delay(delay: float) -> float:
    """Who sets a shorter DOWNLOAD_DELAY means it: a domain alone on its address is asked as often as that allows."""
    return min(USUAL_SECONDS, delay / (1 + LATE))


def delays_of(limits: Limits) -> AddressDelays:
    """How far apart requests to one address have to be under these limits."""
    least = limits.delay if limits.scope_by == "address" else 0.0
    return AddressDelays(limits.address_delay, limits.address_delays, least)
