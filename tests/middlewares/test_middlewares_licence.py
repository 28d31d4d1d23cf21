"""A licence that expires stops the fetching: queued URLs are refused at lease time, and so are redirect targets."""

import asyncio
import itertools
import os
from types import SimpleNamespace

import pytest
from scrapy import Request

from crawler.document import DropReason
from crawler.frontier.client import Frontier
from crawler.frontier.seeding import REREAD_SECONDS, SharedScope, join_scope
from crawler.middlewares.licence import LicenceMiddleware
from crawler.middlewares.outcomes import Denied
from crawler.seeds.allowlist import AllowlistEntry
from crawler.seeds.scope import Scope
from crawler.server.embedded import EmbeddedServer
from crawler.urls.link import Link

DAY = 86_400.0
NOW = 1_795_305_600.0  # 2026-11-22
_serial = itertools.count()


class World:
    """A frontier, the rules of its crawl, and one clock for both."""

    def __init__(self, url: str) -> None:
        self.now = NOW
        self.ticks = 0.0
        self.frontier = Frontier(url, f"licence{os.getpid()}-{next(_serial)}", now=lambda: self.now)
        self.middleware = LicenceMiddleware.from_crawler(SimpleNamespace(spider=self))  # type: ignore[arg-type]

    async def join(self, *entries: AllowlistEntry) -> None:
        scope = await join_scope(self.frontier, Scope(entries=entries, clock=lambda: self.now))
        self.shared = SharedScope(self.frontier, scope, monotonic=lambda: self.ticks)

    async def outcome(self) -> DropReason | None:
        """What becomes of the next leased URL: None where it would be fetched."""
        (lease,) = (await self.frontier.lease(1)).leases
        request = Request(lease.url, meta={"lease": lease})
        try:
            await self.middleware.process_request(request)
        except Denied as denied:
            return denied.drop.reason
        finally:
            await self.frontier.release([lease.token])
        return None


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with EmbeddedServer(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
def play(server):
    def run(scenario):
        async def main() -> None:
            world = World(server)
            await world.frontier.open()
            try:
                await scenario(world)
            finally:
                await world.frontier.close()

        asyncio.run(main())

    return run


def entry(**values: object) -> AllowlistEntry:
    return AllowlistEntry("a.org", "A", "CC0-1.0", **{"expires": "2026-11-23", **values})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["page", "sitemap"])
def test_a_licence_that_expires_while_a_url_waits_stops_its_fetching(play, kind):
    async def scenario(world: World) -> None:
        await world.join(entry())
        await world.frontier.put([Link("https://a.org/x", kind=kind)])
        assert await world.outcome() is None
        world.now += DAY  # the last day of the licence
        assert await world.outcome() is None
        world.now += DAY
        assert await world.outcome() is DropReason.LICENCE_EXPIRED

    play(scenario)


def test_a_licence_renewed_elsewhere_is_known_to_a_running_worker_within_a_minute(play):
    async def scenario(world: World) -> None:
        await world.join(entry())
        await world.frontier.put([Link("https://a.org/x")])
        world.now += 2 * DAY
        assert await world.outcome() is DropReason.LICENCE_EXPIRED
        await join_scope(world.frontier, Scope(entries=(entry(expires="2030-01-01"),)))
        world.ticks += REREAD_SECONDS
        assert await world.outcome() is None
        await join_scope(world.frontier, Scope(entries=(entry(expires="2026-01-01"),)))  # and withdrawn
        world.ticks += REREAD_SECONDS / 2
        assert await world.outcome() is None
        world.ticks += REREAD_SECONDS / 2
        assert await world.outcome() is DropReason.LICENCE_EXPIRED

    play(scenario)


def test_a_path_that_a_newer_allowlist_excludes_is_not_fetched_any_more(play):
    async def scenario(world: World) -> None:
        await world.join(entry(exclude=("/x",)))
        await world.frontier.put([Link("https://a.org/x")])
        assert await world.outcome() is DropReason.OFF_SCOPE

    play(scenario)


def test_what_no_allowlist_entry_speaks_about_is_left_alone(play):
    async def scenario(world: World) -> None:
        await world.join(entry())
        await world.frontier.put([Link("https://elsewhere.org/x")])
        world.now += 9 * DAY
        assert await world.outcome() is None
        await world.middleware.process_request(Request("https://a.org/robots.txt"))  # without a lease
        del world.shared
        await world.frontier.put([Link("https://a.org/x")])
        assert await world.outcome() is None  # a spider without rules

    play(scenario)


def test_a_refusal_says_which_licence_ended_when(play):
    async def scenario(world: World) -> None:
        await world.join(entry(expires="2026-11-01"))
        await world.frontier.put([Link("https://a.org/x")])
        (lease,) = (await world.frontier.lease(1)).leases
        with pytest.raises(Denied) as caught:
            await world.middleware.process_request(Request(lease.url, meta={"lease": lease}))
        assert caught.value.drop.detail == "a.org: CC0-1.0 held until 2026-11-01"

    play(scenario)
