"""A server that was killed may have forgotten its last second: what depended on it is done again."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import time
from types import SimpleNamespace

import pytest
import redis
from scrapy import Request

from crawler.config import from_mapping
from crawler.frontier.client import Frontier
from crawler.frontier.model import Fault, Limits, PutStatus
from crawler.scheduler.acknowledge import SYNCED_SECONDS, Acknowledgements
from crawler.scheduler.in_flight import InFlight
from crawler.scheduler.prefetch import Prefetch
from crawler.scheduler.put_queue import PutQueue
from crawler.scheduler.scheduler import Scheduler
from crawler.scheduler.spending import Purse
from crawler.scheduler.turned_away import PutBack
from crawler.scheduler.turns import Turns
from crawler.server.connection import ServerRestarted
from crawler.server.embedded import EmbeddedServer
from crawler.urls.link import Link
from tests.support.frontier_shorthand import ack, hands_of
from tests.support.server import file_of, kill, size_of

PARENT, CHILD = (Link(f"http://127.0.0.1:8000/{name}") for name in ("parent", "child"))


def with_frontier(server: EmbeddedServer, scenario) -> None:
    async def run() -> None:
        frontier = Frontier(server.url, "restart", Limits(delay=0.0, concurrency=4))
        await frontier.open()
        try:
            await scenario(frontier)
        finally:
            await frontier.close()

    asyncio.run(run())


def test_another_process_at_the_same_address_is_another_epoch_and_a_lost_connection_is_not(server):
    async def scenario(frontier):
        with contextlib.closing(redis.Redis.from_url(server.url)) as client:
            client.client_kill_filter(_type="normal", skipme=True)
        await frontier.counts()
        assert frontier.connection.epoch == 0
        kill(server)
        server.ensure()
        await frontier.counts()
        assert frontier.connection.epoch == 1

    with_frontier(server, scenario)


def test_what_is_meant_for_one_epoch_does_not_happen_in_the_next(server):
    async def scenario(frontier):
        await frontier.put([PARENT])
        (lease,) = (await frontier.lease(1)).leases
        kill(server)
        server.ensure()
        with pytest.raises(ServerRestarted), frontier.connection.only_in(0):
            await ack(frontier, [(lease.token, None)])
        counts = await frontier.counts()
        assert (counts.leased, counts.done) == (1, 0)

    with_frontier(server, scenario)


def test_a_page_that_waits_for_its_turn_when_the_server_is_restarted_is_given_back_unsent(server):
    async def scenario(frontier):
        in_flight = InFlight()
        await frontier.put([PARENT])
        (lease,) = (await frontier.lease(1)).leases
        in_flight.add(lease, frontier.connection.epoch)
        in_flight.get(lease.token).slot_used = True  # by robots.txt: the page needs a turn of its own
        kill(server)
        server.ensure()
        with pytest.raises(PutBack):
            await Turns(frontier, in_flight, hands_of(frontier, in_flight)).turn(
                Request(lease.url, meta={"lease": lease})
            )

    with_frontier(server, scenario)


def test_links_that_went_with_the_last_second_are_put_again_before_their_page_is_acknowledged(server):
    async def scenario(frontier):
        scheduler = Scheduler(SimpleNamespace(stats=None, engine=None), from_mapping({}))
        scheduler.frontier = frontier
        scheduler._put_queue = PutQueue(frontier, lambda: None)
        stats, revisits = SimpleNamespace(inc_value=lambda *_: None), SimpleNamespace(entry=lambda lease, doc: b"")
        scheduler._acknowledgements = Acknowledgements(
            stats,
            frontier,
            scheduler._in_flight,
            revisits,
            hands_of(frontier, scheduler._in_flight),
            stir=lambda: None,
            failed=print,
            backoff=1.0,
        )
        await scheduler.put([PARENT])
        (lease,) = (await frontier.lease(1)).leases
        scheduler._in_flight.add(lease, frontier.connection.epoch)
        before = size_of(server)
        assert await scheduler.put([CHILD], lease.token) == [PutStatus.QUEUED]
        kill(server)
        os.truncate(file_of(server), before)
        server.ensure()
        assert (await frontier.counts()).queued == 0, "the link is lost"
        await scheduler.settle(lease.token)
        counts = await frontier.counts()
        assert (counts.done, counts.queued, counts.leased) == (1, 1, 0)
        (child,) = (await frontier.lease(1)).leases
        assert child.url == CHILD.url

    with_frontier(server, scenario)


def test_what_a_server_answered_before_it_was_killed_is_not_remembered(server):
    async def scenario(frontier):
        put_queue = PutQueue(frontier, lambda: None)
        before = size_of(server)
        assert await put_queue.put([CHILD]) == [PutStatus.QUEUED]
        kill(server)
        os.truncate(file_of(server), before)
        server.ensure()
        await frontier.counts()
        assert await put_queue.put([CHILD]) == [PutStatus.QUEUED]

    with_frontier(server, scenario)


def flushed(server: EmbeddedServer) -> None:
    with contextlib.closing(redis.Redis.from_url(server.url)) as client:
        client.flushall()


def test_links_are_put_again_where_the_frontier_was_emptied_under_a_worker(server):
    async def scenario(frontier):
        put_queue, prefetch = PutQueue(frontier, lambda: None), prefetch_of(frontier)
        await put_queue.put([PARENT, CHILD])
        prefetch._accept(await frontier.lease(4), 0)
        flushed(server)
        assert await put_queue.put([CHILD]) == [PutStatus.SEEN], "this worker has not noticed it yet"
        prefetch._accept(await frontier.lease(4), 0)
        assert await put_queue.put([CHILD]) == [PutStatus.QUEUED]

    with_frontier(server, scenario)


def test_an_emptied_frontier_that_another_worker_has_filled_again_is_noticed_with_the_next_lease(server):
    """The number of URLs tells nothing then, and a lease that fills the batch brings no numbers."""

    async def scenario(frontier):
        others = [Link(f"http://127.0.0.{n}:8000/") for n in range(2, 9)]
        queue = PutQueue(frontier, lambda: None)
        await queue.put([PARENT, CHILD])
        await frontier.lease(1)
        flushed(server)
        async with contextlib.AsyncExitStack() as stack:
            other = Frontier(server.url, "restart", Limits(delay=0.0, concurrency=4))
            await other.open()
            stack.push_async_callback(other.close)
            await other.put(others)
            assert len((await other.lease(2)).leases) == 2
        assert (await frontier.lease(2)).counts is None
        assert frontier.connection.epoch == 1
        assert await queue.put([PARENT, CHILD]) == [PutStatus.QUEUED, PutStatus.QUEUED]
        await frontier.lease(20)
        assert frontier.connection.epoch == 1, "once a loss"

    with_frontier(server, scenario)


def prefetch_of(frontier: Frontier, put_queue: PutQueue | None = None) -> Prefetch:
    stats = SimpleNamespace(inc_value=lambda *_: None, set_value=lambda *_: None)
    engine = SimpleNamespace(closing=False, wake=lambda: None)
    config = from_mapping({})
    put_queue = put_queue or PutQueue(frontier, lambda: None)
    in_flight = InFlight()
    hands = hands_of(frontier, in_flight)
    purse = Purse(config, stats, frontier, in_flight)
    return Prefetch(
        engine, stats, config.frontier, frontier, in_flight, start_urls=None, put_queue=lambda: put_queue, hands=hands,
        purse=purse,
    )  # fmt: skip


@pytest.mark.parametrize("way", ["put back", "tried again", "set aside"])
def test_a_url_that_comes_back_to_a_server_that_has_forgotten_it_is_queued_there_again(server, way):
    async def scenario(frontier):
        in_flight = InFlight()
        stats, revisits = SimpleNamespace(inc_value=lambda *_: None), SimpleNamespace(entry=lambda lease, doc: b"")
        given = Acknowledgements(
            stats,
            frontier,
            in_flight,
            revisits,
            hands_of(frontier, in_flight),
            stir=lambda: None,
            failed=print,
            backoff=1.0,
        )
        before = size_of(server)
        await frontier.put([PARENT])
        (lease,) = (await frontier.lease(1)).leases
        in_flight.add(lease, frontier.connection.epoch)
        kill(server)
        os.truncate(file_of(server), before)
        server.ensure()
        if way == "put back":
            await given.put_back(lease.token, 0.0)
        elif way == "tried again":
            assert await given.retry(lease.token, 0.0, "broken", Fault.URL)
        else:
            await given.hold(lease.token, 0.0, "robots.txt does not answer")
        assert not in_flight
        (again,) = (await frontier.lease(1)).leases
        assert again.url == PARENT.url

    with_frontier(server, scenario)


def test_seeds_that_went_with_the_last_second_are_put_again_and_older_ones_are_on_the_disk(server):
    async def scenario(frontier):
        put_queue = PutQueue(frontier, lambda: None)
        prefetch = prefetch_of(frontier, put_queue)
        before = size_of(server)
        await put_queue.put([PARENT], of_page=False)
        await put_queue.put([CHILD])  # its page puts it again
        for _ in range(2):
            kill(server)
            os.truncate(file_of(server), before)
            server.ensure()
            asked = time.monotonic()
            assert not (await frontier.lease(1)).leases
            await prefetch._remind(asked)
            assert (await frontier.counts()).queued == 1
            (lease,) = (await frontier.lease(1)).leases
            assert lease.url == PARENT.url
        await prefetch._remind(time.monotonic() + SYNCED_SECONDS)
        assert not put_queue._young

    with_frontier(server, scenario)


def test_seeds_whose_put_had_to_wait_for_the_server_are_young_when_it_has_answered(monkeypatch):
    now = 1000.0

    async def put(candidates):
        nonlocal now
        now += 60.0  # the server was away
        return [PutStatus.QUEUED for _ in candidates]

    frontier = SimpleNamespace(put=put, connection=SimpleNamespace(epoch=0))
    put_queue = PutQueue(frontier, lambda: None)
    monkeypatch.setattr("crawler.scheduler.put_queue.time", SimpleNamespace(monotonic=lambda: now))
    asyncio.run(put_queue.put([PARENT], of_page=False))
    put_queue.written(now + SYNCED_SECONDS)
    assert put_queue._young
    put_queue.written(now + SYNCED_SECONDS + 0.1)
    assert not put_queue._young


def test_an_outcome_that_comes_too_late_puts_what_the_server_said_before_in_doubt(server):
    async def scenario(frontier):
        in_flight, put_queue = InFlight(), PutQueue(frontier, lambda: None)
        stats, revisits = SimpleNamespace(inc_value=lambda *_: None), SimpleNamespace(entry=lambda lease, doc: b"")
        settled = Acknowledgements(
            stats,
            frontier,
            in_flight,
            revisits,
            hands_of(frontier, in_flight),
            stir=lambda: None,
            failed=print,
            backoff=1.0,
        )
        await put_queue.put([PARENT, CHILD])
        (lease,) = (await frontier.lease(1)).leases
        in_flight.add(lease, frontier.connection.epoch)
        flushed(server)
        await settled.settle(lease.token, None)
        assert await put_queue.put([PARENT, CHILD]) == [PutStatus.QUEUED, PutStatus.QUEUED]

    with_frontier(server, scenario)


def test_an_acknowledgement_that_fails_once_its_page_is_uploaded_is_told_and_not_waited_for(server, monkeypatch):
    async def scenario(frontier):
        in_flight, told = InFlight(), []
        stats, revisits = SimpleNamespace(inc_value=lambda *_: None), SimpleNamespace(entry=lambda lease, doc: b"")
        hands = hands_of(frontier, in_flight)
        given = Acknowledgements(
            stats, frontier, in_flight, revisits, hands, stir=lambda: None, failed=told.append, backoff=1.0
        )
        await frontier.put([PARENT])
        (lease,) = (await frontier.lease(1)).leases
        in_flight.add(lease, frontier.connection.epoch)
        uploaded = asyncio.get_running_loop().create_future()
        await given.settle(lease.token, None, uploaded)

        async def out_of_descriptors(*_):
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(frontier, "settle", out_of_descriptors)
        uploaded.set_result(None)
        await given.drain()
        assert [error.errno for error in told] == [errno.EMFILE]

    with_frontier(server, scenario)
