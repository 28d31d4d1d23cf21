"""A domain outside its hours is asked by nobody until they begin; then the same URLs are fetched."""

from __future__ import annotations

import pytest
from scrapy import Request

from crawler.frontier.client import Frontier
from crawler.frontier.seeding import SharedScope, join_scope
from crawler.middlewares.licence import LicenceMiddleware
from crawler.scheduler.turned_away import PutBack
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.scope import Scope
from crawler.urls.link import Link

NOON = 1_795_348_800.0  # 2026-11-22T12:00:00Z
HOUR = 3_600.0


def test_outside_its_hours_a_domain_is_blocked_for_all_workers_until_they_begin(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        clock.now = NOON
        entry = AllowlistEntry("a.org", "A", "x", hours="22:00-06:00 UTC", discovery="links")
        scope = await join_scope(frontier, Scope(entries=(entry,), clock=clock))
        shared = SharedScope(frontier, scope)

        async def block(url: str, until: float, reason: str) -> None:
            await frontier.politeness.block(frontier.scope_of(url), until, reason)

        middleware = LicenceMiddleware(shared.covering, block)
        await frontier.put([Link(f"https://a.org/{n}") for n in range(3)] + [Link("https://b.org/")])
        leases = (await frontier.lease(9)).leases
        assert {lease.scope for lease in leases} == {"a.org", "b.org"}
        for lease in leases:
            request = Request(lease.url, meta={"lease": lease})
            if lease.scope == "b.org":
                await middleware.process_request(request)
                await frontier.settle([(lease.token, None)])
                continue
            with pytest.raises(PutBack) as back:
                await middleware.process_request(request)
            assert back.value.not_before == NOON + 10 * HOUR
            await frontier.nack(lease.token, back.value.not_before, "", counted=False)
        for hours in (0, 5, 9.99):
            clock.now = NOON + hours * HOUR
            assert (await frontier.lease(9)).leases == ()
        counts = await frontier.counts()
        assert (counts.queued, counts.waiting, counts.pending) == (3, 0, 3)  # the hours begin within the patience
        clock.now = NOON + 10 * HOUR
        (lease,) = (await frontier.lease(9)).leases
        await middleware.process_request(Request(lease.url, meta={"lease": lease}))
        assert lease.attempt == 1  # waiting costs no try

    frontier_run(scenario, delay=1.0, patience=60.0)
