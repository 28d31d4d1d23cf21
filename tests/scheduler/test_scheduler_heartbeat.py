"""A worker keeps its leases alive, and says of one that it has expired only where that is so."""

from __future__ import annotations

import logging
from collections import Counter
from types import SimpleNamespace

import pytest

from crawler.frontier.model import Fault
from crawler.scheduler.acknowledge import Acknowledgements
from crawler.scheduler.hands import Hands
from crawler.scheduler.heartbeat import Heartbeat
from crawler.scheduler.in_flight import InFlight
from crawler.statkeys import LOST
from crawler.urls.link import Link

HOST = "http://127.0.0.1:8000"
LEASE_SECONDS = 120.0


class Worker:
    """Leases in hand, how they end, and a heartbeat, on a real frontier."""

    def __init__(self, frontier):
        self.frontier, self.in_flight, self.counted = frontier, InFlight(), Counter()
        self.stats = SimpleNamespace(inc_value=lambda key, count=1: self.counted.update({key: count}))
        self.hands = Hands(self.stats, frontier, self.in_flight)
        self.heartbeat = Heartbeat(
            SimpleNamespace(),
            self.stats,
            frontier,
            self.in_flight,
            self.hands,
            recover=lambda flight: None,
        )

    async def take(self, *paths):
        await self.frontier.put([Link(f"{HOST}{path}") for path in paths])
        (lease,) = (await self.frontier.lease(1)).leases
        self.in_flight.add(lease)
        return lease.token

    def ends(self, frontier):
        revisits = SimpleNamespace(entry=lambda lease, doc: b"")
        return Acknowledgements(
            self.stats, frontier, self.in_flight, revisits, self.hands, stir=lambda: None, failed=print, backoff=1.0
        )


class AnswersLate:
    """A frontier whose answers arrive after the worker's next heartbeat."""

    def __init__(self, worker):
        self._worker = worker

    def __getattr__(self, name):
        found = getattr(self._worker.frontier, name)
        if name not in {"settle", "nack", "hold"}:
            return found

        async def late(*args, **values):
            answer = await found(*args, **values)
            await self._worker.hands.renew()
            return answer

        return late


@pytest.mark.parametrize("way", ["settled", "tried again", "put back", "set aside"])
def test_a_lease_that_ends_during_a_heartbeat_has_not_expired(frontier_run, caplog, way):
    async def scenario(frontier):
        worker = Worker(frontier)
        token = await worker.take("/a")
        ends = worker.ends(AnswersLate(worker))
        if way == "settled":
            await ends.settle(token, None)
        elif way == "tried again":
            assert await ends.retry(token, 0.0, "broken", Fault.URL)
        elif way == "put back":
            await ends.put_back(token, 0.0)
        else:
            await ends.hold(token, 0.0, "robots.txt does not answer")
        assert not worker.in_flight
        assert worker.counted[LOST] == 0

    with caplog.at_level(logging.WARNING):
        frontier_run(scenario, lease_seconds=LEASE_SECONDS)
    assert "expired" not in caplog.text


def test_a_lease_that_has_expired_is_let_go_and_said(frontier_run, clock, caplog):
    async def scenario(frontier):
        worker = Worker(frontier)
        await worker.take("/a")
        clock.advance(LEASE_SECONDS + 1)
        await frontier.lease(1)  # of another worker, which finds it
        assert (await frontier.counts()).queued == 1
        await worker.hands.renew()
        assert not worker.in_flight
        assert worker.counted[LOST] == 1

    with caplog.at_level(logging.WARNING):
        frontier_run(scenario, lease_seconds=LEASE_SECONDS)
    assert "1 lease expired: their URLs are back in the queue" in caplog.text


def test_a_url_that_had_its_last_try_keeps_its_lease_until_its_verdict(frontier_run):
    async def scenario(frontier):
        worker = Worker(frontier)
        token = await worker.take("/a")
        assert not await worker.ends(AnswersLate(worker)).retry(token, 0.0, "broken", Fault.URL)
        assert not worker.in_flight.get(token).ending
        await worker.hands.renew()
        assert worker.in_flight.get(token) is not None
        assert worker.counted[LOST] == 0

    frontier_run(scenario, lease_seconds=LEASE_SECONDS, tries=1)


def test_leases_in_hand_last_as_long_as_the_heart_beats(frontier_run, clock):
    async def scenario(frontier):
        worker = Worker(frontier)
        await worker.take("/a")
        for _ in range(3):
            clock.advance(LEASE_SECONDS * 0.8)
            await worker.hands.renew()
        assert (await frontier.lease(1)).leases == ()
        assert len(worker.in_flight) == 1

    frontier_run(scenario, lease_seconds=LEASE_SECONDS)
