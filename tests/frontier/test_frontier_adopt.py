"""What a crawl had finished is told to a frontier that has forgotten it."""

from __future__ import annotations

from crawler.frontier.adopt import adopt
from crawler.frontier.model import PutStatus
from crawler.frontier.visits import visit_entry
from crawler.recrawl.visit import Intervals, Visit
from crawler.urls.canonicalize import Address
from crawler.urls.link import Link

PAGES = [f"https://{site}.example/{n}" for site in "ab" for n in range(40)]


def test_adopted_urls_are_done_and_in_no_queue(frontier_run):
    async def scenario(frontier):
        assert await adopt(frontier, [(Address(url), b"") for url in PAGES]) == len(PAGES)
        counts = await frontier.counts()
        assert (counts.seen, counts.done, counts.queued, counts.leased) == (len(PAGES), len(PAGES), 0, 0)
        assert (await frontier.lease(9)).leases == ()
        assert await frontier.put([Link(url) for url in PAGES]) == [PutStatus.SEEN] * len(PAGES)

    frontier_run(scenario, max_queued=8)


def test_adopting_twice_changes_nothing_and_what_waits_stays(frontier_run):
    async def scenario(frontier):
        await frontier.put([Link("https://a.example/new")])
        await adopt(frontier, [(Address(url), b"") for url in PAGES[:50]])
        assert await adopt(frontier, [(Address(url), b"") for url in PAGES]) == len(PAGES) - 50
        counts = await frontier.counts()
        assert (counts.seen, counts.done, counts.queued) == (len(PAGES) + 1, len(PAGES), 1)
        (lease,) = (await frontier.lease(9)).leases
        assert lease.url == "https://a.example/new"

    frontier_run(scenario, shards=3)


def test_an_adopted_url_comes_back_with_its_visit_when_it_is_due(frontier_run, clock):
    async def scenario(frontier):
        visit = Visit(int(clock.now) - 100, 1, 1, b"x" * 16, kept=True, reusable=True, etag='"e"')
        await adopt(frontier, [(Address(PAGES[0]), visit_entry(PAGES[0], visit))])
        assert await frontier.visits.next_visits() == (1, 0.0)
        assert await frontier.visits.sweep(Intervals(50.0, 0.0, 1000.0)) == 1
        (lease,) = (await frontier.visits.recall(await frontier.lease(1))).leases
        assert (lease.url, lease.visit) == (PAGES[0], visit)

    frontier_run(scenario, delay=0.0)
