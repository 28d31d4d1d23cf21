"""A worker that stood still sends nothing that it was allowed to send before, by whichever clock that shows."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from twisted.internet.address import IPv4Address
from twisted.internet.testing import StringTransport
from twisted.web.client import Request as WireRequest
from twisted.web.http_headers import Headers

from crawler.downloader.handler import Departures, guarded_factory
from crawler.frontier.model import Mark
from crawler.policy.network import NetworkRules
from crawler.scheduler.in_flight import InFlight
from crawler.scheduler.turned_away import PutBack
from crawler.scheduler.turns import Turns
from crawler.scheduler.wakefulness import STANDSTILL_SECONDS, Wakefulness
from crawler.times import moment, seconds_between
from crawler.urls.link import Link
from tests.support.frontier_shorthand import hands_of

HOST = "http://127.0.0.1:8000"
LEASE = 120.0


class Clocks:
    """Monotonic, wall, and one that goes on while the machine is suspended."""

    def __init__(self) -> None:
        self.monotonic, self.wall, self.boot = 100.0, 1_700_000_000.0, 500.0

    def __call__(self) -> tuple[float, ...]:
        return self.monotonic, self.wall, self.boot

    def pass_by(self, seconds: float, *names: str) -> None:
        for name in names or ("monotonic", "wall", "boot"):
            setattr(self, name, getattr(self, name) + seconds)


async def with_turn(frontier, clocks: Clocks):
    """Turns, the request of a page that has its turn, and its flight."""
    in_flight = InFlight()
    turns = Turns(frontier, in_flight, hands_of(frontier, in_flight, clocks), moments=clocks)
    await frontier.put([Link(f"{HOST}/a")])
    (lease,) = (await frontier.lease(1)).leases
    in_flight.add(lease, asked=clocks())
    request = Request(lease.url, meta={"lease": lease})
    in_flight.get(lease.token).request = request
    await turns.turn(request)
    return turns, request, in_flight.get(lease.token)


@pytest.mark.parametrize("moving", ["monotonic", "wall", "boot"])
def test_a_lease_that_any_clock_calls_over_sends_no_request(frontier_run, moving):
    async def scenario(frontier):
        clocks = Clocks()
        turns, request, flight = await with_turn(frontier, clocks)
        assert turns.may_be_sent(request) and flight.sent_at is not None
        for _ in range(int(LEASE / 0.4)):  # no standstill: the worker looked at its clocks all the time
            clocks.pass_by(0.4, moving)
            _ = turns.wakefulness.naps
        assert not turns.may_be_sent(request)
        assert flight.sent_at is None, "nothing was sent: it costs the host nothing"

    frontier_run(scenario, lease_seconds=LEASE)


def test_a_heartbeat_makes_the_lease_young_again(frontier_run):
    async def scenario(frontier):
        clocks = Clocks()
        turns, request, _ = await with_turn(frontier, clocks)
        for _ in range(10):
            for _ in range(100):
                clocks.pass_by(0.4)
                _ = turns.wakefulness.naps
            await turns._hands.renew()
        assert turns.may_be_sent(request)

    frontier_run(scenario, lease_seconds=LEASE)


@pytest.mark.parametrize("moving", ["monotonic", "wall", "boot"])
def test_a_turn_is_over_once_the_worker_stood_still_although_the_lease_lasts(frontier_run, moving):
    async def scenario(frontier):
        clocks = Clocks()
        turns, request, _ = await with_turn(frontier, clocks)
        robots = Request(f"{HOST}/robots.txt")
        await turns.turn(robots)
        clocks.pass_by(STANDSTILL_SECONDS + 0.1, moving)
        assert not turns.may_be_sent(request)
        assert not turns.may_be_sent(robots), "a control file has no lease and a turn all the same"

    frontier_run(scenario, lease_seconds=LEASE, delay=0.0)


def test_a_clock_that_is_set_back_ends_no_turn(frontier_run):
    async def scenario(frontier):
        clocks = Clocks()
        turns, request, _ = await with_turn(frontier, clocks)
        clocks.pass_by(-3600.0, "wall")
        assert turns.may_be_sent(request)

    frontier_run(scenario, lease_seconds=LEASE)


def test_a_page_whose_lease_another_worker_has_is_put_back_before_it_is_sent(frontier_run, clock):
    async def scenario(frontier):
        in_flight = InFlight()
        turns = Turns(frontier, in_flight, hands_of(frontier, in_flight))
        await frontier.put([Link(f"{HOST}/a")])
        (lease,) = (await frontier.lease(1)).leases
        in_flight.add(lease)
        clock.advance(LEASE)
        assert (await frontier.lease(1)).leases, "another worker has it"
        with pytest.raises(PutBack):
            await turns.turn(Request(lease.url, meta={"lease": lease}))

    frontier_run(scenario, lease_seconds=LEASE, delay=0.0)


def test_the_mark_is_on_the_server_before_the_request_is_on_the_wire(frontier_run):
    async def scenario(frontier):
        _, _, flight = await with_turn(frontier, Clocks())
        score = await frontier.connection.redis.zscore(frontier.prefix(0) + "leases", flight.lease.token)
        assert score % 1, "in hand"

    frontier_run(scenario, lease_seconds=LEASE)


def test_a_page_that_waits_for_another_turn_is_not_in_hand(frontier_run):
    """As behind a redirect: a worker that dies now did not die of this page."""

    async def scenario(frontier):
        turns, request, flight = await with_turn(frontier, Clocks())
        assert flight.in_hand
        with pytest.raises(PutBack):
            await turns.turn(request)
        assert not flight.in_hand
        await turns._hands.drain()
        score = await frontier.connection.redis.zscore(frontier.prefix(0) + "leases", flight.lease.token)
        assert score % 1 == 0

    frontier_run(scenario, lease_seconds=LEASE, delay=1000.0)


def test_a_page_whose_outcome_is_recorded_is_in_hand_no_more(frontier_run):
    async def scenario(frontier):
        turns, _, flight = await with_turn(frontier, Clocks())
        turns._hands.deliver(flight)
        assert not flight.in_hand
        await turns._hands.drain()

    frontier_run(scenario, lease_seconds=LEASE)


def test_pages_that_wait_for_a_control_file_are_in_hand_with_it(frontier_run):
    async def scenario(frontier):
        in_flight = InFlight()
        turns = Turns(frontier, in_flight, hands_of(frontier, in_flight))
        await frontier.put([Link(f"{HOST}/a"), Link("http://127.0.0.2:8000/b")])
        for lease in (await frontier.lease(2)).leases:
            in_flight.add(lease)
            in_flight.get(lease.token).request = Request(lease.url)
        await turns.wait(f"{HOST}/robots.txt")
        await turns.turn(Request(f"{HOST}/robots.txt"))
        assert [flight.lease.url for flight in in_flight if flight.in_hand] == [f"{HOST}/a"]
        await turns.wait(f"{HOST}/ai.txt")  # it waits for its turn: nothing is under way
        assert not any(flight.in_hand for flight in in_flight)
        await turns._hands.drain()
        assert await frontier.mark([(flight.lease.token, Mark.KEEP) for flight in in_flight]) == [True, True]

    frontier_run(scenario, lease_seconds=LEASE, delay=0.0)


class Gate:
    """A scheduler at the wire: it lets every request wait for nothing and answers `may` in the end."""

    def __init__(self, may: bool) -> None:
        self.may, self.asked = may, list[str]()

    async def before_connecting(self, request, address): ...

    async def before_writing(self, request, address, patience): ...

    def is_in_time(self, request):
        return True

    def may_be_sent(self, request):
        self.asked.append(request.url)
        return self.may


@pytest.mark.parametrize("may", [True, False])
def test_the_wire_asks_once_more_before_it_writes(may):
    gate, transport, failures = Gate(may), StringTransport(), list[object]()
    departures = Departures(lambda: gate)

    async def scenario():
        protocol = guarded_factory(NetworkRules(), departures)(lambda _: None, "test").buildProtocol(
            IPv4Address("TCP", "8.8.8.8", 80)
        )
        protocol.makeConnection(transport)
        wire = WireRequest(b"GET", b"/a", Headers({b"host": [b"x"]}), None)
        wire._absoluteURI = b"http://x/a"
        with departures.announced(wire.absoluteURI, Request("http://x/a")):
            protocol.request(wire).addErrback(failures.append)
            for _ in range(5):
                await asyncio.sleep(0)

    asyncio.run(scenario())
    assert gate.asked
    if may:
        assert transport.value().startswith(b"GET /a ")
    else:
        assert (transport.value() == b"" and transport.disconnecting) or transport.disconnected
        assert failures[0].check(PutBack)


def test_the_longest_of_all_clocks_counts():
    assert seconds_between((1.0, 10.0, 5.0), (2.0, 4.0, 9.0)) == 4.0
    assert len(moment()) in (2, 3)
    assert Wakefulness().naps == 0
