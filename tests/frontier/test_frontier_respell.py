"""A URL whose server wants another spelling is asked again in that one: the same name, the same place, once."""

from __future__ import annotations

from dataclasses import replace

from crawler.frontier.model import Wire
from crawler.urls.canonicalize import address
from crawler.urls.link import Link, link_to

NAME = "https://h.example/a?a=2&b=1"
FOUND = "https://h.example/a?b=1&a=2"


def test_a_lease_asks_for_the_spelling_that_was_put_first(frontier_run):
    async def scenario(frontier):
        await frontier.put([link_to(address(FOUND)), Link(NAME)])
        (lease,) = (await frontier.lease(5)).leases
        assert (lease.url, lease.asked) == (NAME, FOUND)

    frontier_run(scenario, delay=0.0)


def test_a_retry_a_hold_and_a_recrawl_ask_for_the_same_spelling(frontier_run):
    async def scenario(frontier):
        await frontier.put([link_to(address(FOUND), mark=3)])
        (lease,) = (await frontier.lease(1)).leases
        await frontier.nack(lease.token, None, "HTTP 500", wire=Wire(frontier.now(), 0.1))
        (lease,) = (await frontier.lease(1)).leases
        assert (lease.asked, lease.attempt) == (FOUND, 2)
        await frontier.hold(lease.token, frontier.now(), "later")
        await frontier.control.requeue("held")
        (lease,) = (await frontier.lease(1)).leases
        assert lease.asked == FOUND

    frontier_run(scenario, delay=0.0)


def test_a_url_that_is_respelled_is_leased_again_under_its_name_with_its_history(frontier_run):
    async def scenario(frontier):
        await frontier.put([link_to(address(FOUND), mark=3, depth=2), Link("https://h.example/other", mark=9)])
        (lease,) = (await frontier.lease(1)).leases
        await frontier.nack(lease.token, None, "HTTP 500", wire=Wire(frontier.now(), 0.1))
        (lease,) = (await frontier.lease(1)).leases
        to = lease.link.redirected(address(NAME))
        assert await frontier.respell(lease.token, to, wire=Wire(frontier.now(), 0.1))
        assert not await frontier.respell(lease.token, to, wire=None)
        counts = await frontier.counts()
        assert (counts.queued, counts.leased, counts.done) == (2, 0, 0)
        (again,) = (await frontier.lease(1)).leases
        assert (again.url, again.asked, again.attempt, again.reasons) == (NAME, NAME, 1, ())
        assert again.link == replace(to, priority=again.link.priority)
        assert await frontier.settle([(again.token, None)]) == [True]
        assert (await frontier.counts()).done == 1

    frontier_run(scenario, delay=0.0)


def test_a_lease_that_has_expired_respells_nothing(frontier_run):
    async def scenario(frontier):
        await frontier.put([link_to(address(FOUND))])
        (lease,) = (await frontier.lease(1)).leases
        await frontier.release([lease.token])
        assert not await frontier.respell(lease.token, lease.link.redirected(address(NAME)))
        (lease,) = (await frontier.lease(1)).leases
        assert lease.asked == FOUND

    frontier_run(scenario, delay=0.0)
