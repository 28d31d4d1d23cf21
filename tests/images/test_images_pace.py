"""Images are asked for at the pace of the crawl: turns, delays, blocks, control files and a pause are shared."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request

from crawler.config import from_mapping
from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.model import Mode
from crawler.frontier.overview import waits_for_workers
from crawler.frontier.rules import join_rules
from crawler.scheduler.guest import GuestScheduler
from crawler.scheduler.turned_away import PutBack
from crawler.urls.link import Link

HOST = "http://images.example"
SCOPE = "images.example"


@pytest.fixture
def crawled(valkey_url, crawl_name):
    """`crawled(scenario, **settings)`: a frontier whose crawl has these rules, and who makes guests of it."""

    def run(scenario, **settings):
        async def main():
            config = from_mapping({"CRAWL_ID": crawl_name, "REDIS_URL": valkey_url, **settings})
            frontier = Frontier(valkey_url, crawl_name, limits_of(config))
            await frontier.open()
            await join_rules(frontier, config)
            opened = []

            async def guest(**own):
                made = GuestScheduler(SimpleNamespace(**_CRAWLER), from_mapping(
                    {"CRAWL_ID": crawl_name, "REDIS_URL": valkey_url, **settings, **own}))  # fmt: skip
                await made._open(SimpleNamespace())
                opened.append(made)
                return made

            try:
                await scenario(frontier, guest)
            finally:
                for made in opened:
                    await made._close()
                await frontier.close()

        asyncio.run(main())

    return run


_CRAWLER: dict[str, Any] = {
    "stats": SimpleNamespace(inc_value=lambda *_: None, get_value=lambda *_: None, set_value=lambda *_: None),
    "engine": None,
    "signals": SimpleNamespace(connect=lambda *_: None),
}


def test_two_guests_and_a_worker_of_the_crawl_have_one_turn_after_the_other_at_a_domain(crawled):
    async def scenario(frontier, guest):
        first, second = await guest(), await guest()
        await frontier.put([Link(f"{HOST}/page")])
        began = frontier.now()
        await first.turn(Request(f"{HOST}/1.jpg"))
        assert (await frontier.lease(1)).leases == (), "the image has the turn"
        await second.turn(Request(f"{HOST}/2.jpg"))
        assert frontier.now() - began >= 0.4
        at, _ = await frontier.politeness.claim(SCOPE, 0)
        assert at >= began + 0.8 - 0.001, "the third turn is two delays after the first"

    crawled(scenario, DOWNLOAD_DELAY=0.4)


def test_a_delay_that_the_crawl_knows_of_holds_for_images_and_the_other_way_round(crawled):
    async def scenario(frontier, guest):
        made = await guest()
        await frontier.politeness.set_delay(SCOPE, 30.0, "robots:http://images.example")
        await made.turn(Request(f"{HOST}/1.jpg"))
        at, _ = await frontier.politeness.claim(SCOPE, 0)
        assert at - frontier.now() > 29
        await made.shared.put_blob("robots:http://images.example/robots.txt", b"read", 60.0)
        assert await frontier.shared.get_blob("robots:http://images.example/robots.txt") == b"read"

    crawled(scenario, DOWNLOAD_DELAY=0)


def test_a_host_that_the_crawl_leaves_alone_and_a_crawl_that_is_paused_put_an_image_back(crawled):
    async def scenario(frontier, guest):
        made = await guest()
        await frontier.politeness.block(SCOPE, frontier.now() + 3600, "hold_rate_limited")
        with pytest.raises(PutBack):
            await made.turn(Request(f"{HOST}/1.jpg"))
        await frontier.control.set_mode(Mode.PAUSE)
        await made._look()
        for ask in (made.turn(Request("http://other.example/1.jpg")), made.wait_turn("http://other.example/")):
            with pytest.raises(PutBack):
                await ask
        await frontier.control.set_mode(Mode.DRAIN)  # a crawl that ended so has not told anybody else to end
        await made._look()
        await made.turn(Request("http://other.example/1.jpg"))

    crawled(scenario, DOWNLOAD_DELAY=0)


def test_the_stricter_of_both_paces_holds_and_the_crawl_hears_nothing_of_a_guest(crawled, caplog):
    async def scenario(frontier, guest):
        await guest(CRAWL_ID="nobody-s")
        assert "no crawl 'nobody-s' at this server: the pace is shared with nobody" in caplog.text
        caplog.clear()
        made = await guest(DOWNLOAD_DELAY=7, CONCURRENT_REQUESTS_PER_DOMAIN=8, POLITENESS_SCOPE="host")
        limits = made.frontier.limits
        assert (limits.delay, limits.concurrency, limits.scope_by) == (7, 2, "domain")
        assert made.frontier.scope_of("http://a.images.example/") == SCOPE
        stored = json.loads(await frontier.shared.rules_get())[1]
        assert caplog.text == ""
        assert (stored["DOWNLOAD_DELAY"], stored["CONCURRENT_REQUESTS_PER_DOMAIN"]) == (2, 2)

    crawled(scenario, DOWNLOAD_DELAY=2, CONCURRENT_REQUESTS_PER_DOMAIN=2)


def test_a_guest_comes_behind_pages_only_where_live_workers_have_some(crawled):
    async def scenario(frontier, guest):
        made = await guest()
        await frontier.put([Link(f"{HOST}/page")])
        assert not await made.has_pages_for(f"{HOST}/1.jpg"), "nobody is at work"
        await frontier.run("claim", 0, ["enter", "w1", "token", 60_000, ""])
        assert await made.has_pages_for(f"{HOST}/1.jpg")
        assert not await made.has_pages_for("http://other.example/1.jpg")
        (lease,) = (await frontier.lease(1)).leases
        assert await waits_for_workers(frontier, SCOPE), "its request is under way"
        await frontier.settle([(lease.token, None)])
        assert not await made.has_pages_for(f"{HOST}/1.jpg")

    crawled(scenario, DOWNLOAD_DELAY=0)
