"""Domains with a priority are asked before others as soon as their turn has come, and never sooner."""

from __future__ import annotations

from crawler.frontier.client import Frontier
from crawler.frontier.model import Wire
from crawler.frontier.seeding import join_scope
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.scope import Scope
from crawler.urls.link import Link

HOSTS = [f"h{n}.example" for n in range(6)]


def entry(domain: str, priority: int = 0) -> AllowlistEntry:
    return AllowlistEntry(domain, "A", "CC0-1.0", discovery="links", priority=priority)


async def filled(frontier: Frontier, *entries: AllowlistEntry, pages: int = 3) -> None:
    await join_scope(frontier, Scope(entries=entries))
    for host in HOSTS:
        await frontier.put([Link(f"https://{host}/{n}") for n in range(pages)])


async def hosts(frontier: Frontier, n: int) -> list[str]:
    leases = (await frontier.lease(n)).leases
    await frontier.settle([(lease.token, Wire(frontier.now(), 0.0)) for lease in leases])
    return [lease.scope for lease in leases]


def test_without_priorities_domains_take_turns_in_the_order_in_which_they_came(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await filled(frontier)
        assert await hosts(frontier, 3) + await hosts(frontier, 3) == HOSTS

    frontier_run(scenario, delay=1.0)


def test_the_higher_priority_is_asked_first_whoever_waits_longer(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await filled(frontier, entry("h5.example", 10), entry("h4.example", 20))
        assert await hosts(frontier, 2) == ["h4.example", "h5.example"]
        clock.advance(1.5)
        assert await hosts(frontier, 3) == ["h4.example", "h5.example", "h0.example"]
        clock.advance(1.5)
        assert await hosts(frontier, 1) == ["h4.example"]

    frontier_run(scenario, delay=1.0)


def test_a_priority_shortens_no_delay(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await filled(frontier, entry("h5.example", 100))
        assert await hosts(frontier, 1) == ["h5.example"]
        assert await hosts(frontier, 9) == HOSTS[:5]
        clock.advance(0.9)
        assert await hosts(frontier, 9) == []
        clock.advance(0.2)
        assert await hosts(frontier, 1) == ["h5.example"]

    frontier_run(scenario, delay=1.0)


def test_an_entry_may_lose_its_priority_again(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await filled(frontier, entry("h5.example", 10))
        assert await hosts(frontier, 1) == ["h5.example"]
        await join_scope(frontier, Scope(entries=(entry("h5.example"),)))
        clock.advance(1.5)
        assert "h5.example" not in await hosts(frontier, 5)

    frontier_run(scenario, delay=1.0)


def test_every_url_is_handed_out_once_with_and_without_priorities(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await filled(frontier, entry("h1.example", 1), entry("h3.example", 100), pages=7)
        found = []
        for _ in range(30):
            leases = (await frontier.lease(4)).leases
            found += [lease.url for lease in leases]
            await frontier.settle([(lease.token, None) for lease in leases])
            clock.advance(1.0)
        assert sorted(found) == sorted(f"https://{host}/{n}" for host in HOSTS for n in range(7))

    frontier_run(scenario, delay=0.0, concurrency=2, max_queued=3)
