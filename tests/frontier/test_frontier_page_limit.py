"""FRONTIER_MAX_PAGES: what a crawl takes in all, whoever puts it and whenever."""

from __future__ import annotations

import asyncio

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, PutStatus
from crawler.urls.link import Link


def pages(*numbers: int, host: str = "a.example") -> list[Link]:
    return [Link(f"https://{host}/{n}") for n in numbers]


def said(answers: list[PutStatus]) -> str:
    """A letter for each answer."""
    return "".join(answer[0] for answer in answers)


def test_the_limit_holds_over_all_domains_and_what_is_known_stays_known(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        assert said(await frontier.put(pages(1, 2))) == "qq"
        assert said(await frontier.put(pages(1, 2, host="b.example") + pages(3))) == "qcc"
        assert said(await frontier.put(pages(1, 2, 3, 4))) == "sscc"
        assert (await frontier.counts()).seen == 3

    frontier_run(scenario, total_pages=3)


def test_sitemaps_are_no_pages(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        lists = [Link(f"https://a.example/{n}.xml", kind="sitemap") for n in range(5)]
        assert said(await frontier.put(lists)) == "qqqqq"
        assert said(await frontier.put(pages(1, 2, 3))) == "qqc"
        assert said(await frontier.put([Link("https://a.example/6.xml", kind="sitemap")])) == "q"

    frontier_run(scenario, total_pages=2)


def test_sitemaps_take_no_place_of_a_domains_cap_and_are_not_held_back_by_it(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        lists = [Link(f"https://a.example/{n}.xml", kind="sitemap", cap=2) for n in range(5)]
        assert said(await frontier.put(lists)) == "qqqqq"
        assert said(await frontier.put(pages(1, 2, 3))) == "qqc"
        assert said(await frontier.put([Link("https://a.example/6.xml", kind="sitemap")])) == "q"

    frontier_run(scenario, max_pages=2)


def test_the_cap_of_a_domain_holds_within_it(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        assert said(await frontier.put(pages(1, 2, 3))) == "qqc"
        assert said(await frontier.put(pages(1, 2, 3, host="b.example"))) == "qcc"

    frontier_run(scenario, total_pages=3, max_pages=2)


def with_frontiers(url: str, name: str, scenario, *limits: Limits) -> None:
    async def main() -> None:
        workers = [Frontier(url, name, limit) for limit in limits]
        for worker in workers:
            await worker.open()
        try:
            await scenario(*workers)
        finally:
            for worker in workers:
                await worker.close()

    asyncio.run(main())


def test_all_workers_share_it_and_a_later_run_may_raise_it(valkey_url, crawl_name):
    async def scenario(first: Frontier, second: Frontier, later: Frontier) -> None:
        assert said(await first.put(pages(1, 2))) == "qq"
        assert said(await second.put(pages(3, 4))) == "qc"
        assert said(await first.put(pages(5))) == "c"
        assert said(await later.put(pages(4, 5, 6))) == "qqc"

    three, five = Limits(total_pages=3), Limits(total_pages=5)
    with_frontiers(valkey_url, crawl_name, scenario, three, three, five)


def test_a_limit_that_comes_later_counts_what_was_taken_before(valkey_url, crawl_name):
    async def scenario(free: Frontier, limited: Frontier) -> None:
        assert said(await free.put(pages(1, 2, 3))) == "qqq"
        assert said(await limited.put(pages(4, 5))) == "qc"

    with_frontiers(valkey_url, crawl_name, scenario, Limits(), Limits(total_pages=4))


@pytest.mark.parametrize(("limit", "expected"), [(10, 10), (3, 3)])
def test_shards_take_their_shares_and_never_more_than_the_limit(valkey_url, crawl_name, limit, expected):
    async def scenario(frontier: Frontier) -> None:
        for round_ in range(5):
            await frontier.put([Link(f"https://h{n}.example/{round_}") for n in range(40)])
        assert (await frontier.counts()).seen == expected

    with_frontiers(valkey_url, crawl_name, scenario, Limits(total_pages=limit, shards=5))
