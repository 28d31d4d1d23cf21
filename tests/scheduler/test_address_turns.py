"""Domains that share an address share its patience: over all workers, and without keeping their places busy."""

from __future__ import annotations

import asyncio
import random
import time
from itertools import pairwise

import pytest
from scrapy import Request

from bench.faults import addresses
from bench.web.target import served
from crawler.config import ConfigError, from_mapping
from crawler.config.address_delays import MAX_NETWORKS, read_address_delays
from crawler.frontier.client import Frontier
from crawler.frontier.configured import delays_of, limits_of
from crawler.frontier.model import Limits
from crawler.frontier.politeness import AddressRow
from crawler.policy.addresses import budget_of
from crawler.scheduler.in_flight import SUBRESOURCE, InFlight
from crawler.scheduler.turned_away import PutBack
from crawler.scheduler.turns import Turns
from crawler.urls.link import Link
from tests.support.frontier_shorthand import hands_of

HERE, OTHER = "127.0.0.9", "127.0.0.10"


def send(who, slot=0, within=2.0, address=HERE, most=0, delay=0.5):
    return AddressRow("send", address, delay, who, slot, within, most)


def line(who, within=2.0):
    return AddressRow("line", HERE, 0.5, who, within=within)


def test_requests_of_two_workers_to_one_address_take_turns(frontier_run, clock):
    async def scenario(frontier):
        ask, now = frontier.politeness.ask_addresses, clock()
        (first, _), (second, slot), (elsewhere, _) = await ask([send("a"), send("b"), send("c", address=OTHER)])
        assert (first, second, elsewhere) == pytest.approx((now, now + 0.5, now), abs=0.001)
        ((third, _),) = await ask([send("d")])
        assert third == pytest.approx(now + 1.0, abs=0.001)
        clock.advance(0.8)  # b has slept too long: the slot behind its own is taken, so it waits behind that
        ((again, _),) = await ask([send("b", slot)])
        assert again == pytest.approx(now + 1.5, abs=0.001)

    frontier_run(scenario)


def test_who_is_late_and_has_nobody_behind_goes_at_once(frontier_run, clock):
    async def scenario(frontier):
        ask = frontier.politeness.ask_addresses
        await ask([send("a")])
        ((_, slot),) = await ask([send("b")])
        clock.advance(0.6)
        ((at, _),) = await ask([send("b", slot)])
        assert at == pytest.approx(clock(), abs=0.001)

    frontier_run(scenario)


def test_the_line_is_first_come_first_served_whoever_asks_again(frontier_run, clock):
    async def scenario(frontier):
        ask, names = frontier.politeness.ask_addresses, [f"site{n}.example" for n in range(40)]
        came = {name: (await ask([line(name)]))[0] for name in names}
        waiting = {name: at for name, (at, granted) in came.items() if not granted}
        assert len(waiting) > 30, "most of forty sites go back into the queue"
        assert list(waiting) == sorted(waiting, key=waiting.__getitem__)
        went, order = [], random.Random(7)
        while waiting:
            clock.advance(max(0.0, min(waiting.values()) - 1.9 - clock()))
            due = [name for name, at in waiting.items() if at - clock() <= 2.0]
            order.shuffle(due)
            for name in due:
                ((at, granted),) = await ask([line(name)])
                assert at == pytest.approx(waiting[name], abs=0.01), "a place in the line does not move"
                if granted:
                    went.append(name)
                    del waiting[name]
        assert went == [name for name in names if name in went]

    frontier_run(scenario)


def test_the_state_of_addresses_that_nobody_asks_any_more_goes(frontier_run, clock):
    async def scenario(frontier):
        for n in range(300):
            await frontier.politeness.ask_addresses([send("x", address=f"127.0.1.{n}"), line(f"s{n}", within=0.0)])
        clock.advance(3600.0)
        await frontier.politeness.ask_addresses([send("y")])
        prefix, redis = frontier.prefix(0), frontier.connection.redis
        sizes = [await redis.zcard(f"{prefix}{key}") for key in ("asked", "line", "places")]
        assert sizes == [1, 1, 0]

    frontier_run(scenario)


def test_where_an_address_is_the_scope_its_requests_are_counted_as_those_of_one_host(frontier_run, clock):
    async def scenario(frontier):
        ask = frontier.politeness.ask_addresses
        ((_, first),) = await ask([send("a", most=1, delay=0.0)])
        ((_, second),) = await ask([send("b", most=1, delay=0.0)])
        assert first, "the first request goes"
        assert not second, "the second one waits for the answer to the first"
        await ask([AddressRow("over", HERE, 0.0, "a", 700)])
        ((at, _),) = await ask([send("b", most=1, delay=0.0)])
        assert at - clock() == pytest.approx(0.7, abs=0.001), "after a slow answer the address rests"

    frontier_run(scenario, scope_by="address")


def test_a_request_whose_worker_died_does_not_hold_its_address_for_ever(frontier_run, clock):
    async def scenario(frontier):
        ask = frontier.politeness.ask_addresses
        await ask([send("dead", most=1)])
        clock.advance(400.0)
        ((_, granted),) = await ask([send("b", most=1)])
        assert granted

    frontier_run(scenario, scope_by="address")


def test_a_page_whose_address_is_busy_goes_back_without_cost_and_comes_at_its_turn(valkey_url, crawl_name):
    async def run():
        frontier = Frontier(valkey_url, crawl_name, Limits(delay=0.0, address_delay=10.0))
        await frontier.open()
        in_flight = InFlight()
        turns = Turns(frontier, in_flight, hands_of(frontier, in_flight))
        await frontier.put([Link("http://one.example/"), Link("http://two.example/")])
        one, two = (await frontier.lease(2)).leases
        for lease in (one, two):
            in_flight.add(lease)
            await turns.turn(Request(lease.url, meta={"lease": lease}))
        await turns.before_writing(Request(one.url, meta={"lease": one}), HERE, 30.0)
        with pytest.raises(PutBack) as back:
            await turns.before_writing(Request(two.url, meta={"lease": two}), HERE, 30.0)
        flight = in_flight.get(two.token)
        assert flight.sent_at is None, "nothing was sent"
        wait = back.value.not_before - frontier.now()
        assert 9 < wait < 11
        await frontier.nack(two.token, back.value.not_before, "", counted=False, wire=flight.wire(frontier.now()))
        batch = await frontier.lease(5)
        assert batch.leases == ()
        assert batch.next_ready_at == pytest.approx(back.value.not_before, abs=0.1), "the scope waits with its URLs"
        await frontier.close()

    asyncio.run(run())


def test_without_a_delay_nobody_asks_the_server(valkey_url, crawl_name):
    async def run():
        frontier = Frontier(valkey_url, crawl_name, Limits(delay=0.0))
        turns = Turns(
            frontier, InFlight(), hands_of(frontier, InFlight())
        )  # not open: a question would not be answered
        request = Request("http://one.example/")
        await turns.before_connecting(request, HERE)
        await turns.before_writing(request, HERE, 30.0)
        turns.left(request)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("one", "two", "shared"),
    [
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("fe80::1%eth0", "fe80::1", True),
    ],
)
def test_one_machine_has_one_budget(one, two, shared):
    assert (budget_of(one) == budget_of(two)) is shared


def test_the_longest_network_says_the_delay(tmp_path):
    text = "# ours\n10.0.0.0/8 2\n10.1.0.0/16 0\n10.1.2.0/24 7.5  # asked us to\n2001:db8::/32 3\n"
    (tmp_path / "delays").write_text(text)
    limits = limits_of(from_mapping({"ADDRESS_DELAYS_FILE": str(tmp_path / "delays")}))
    delays = delays_of(limits)
    found = [delays.of(a) for a in ("10.9.9.9", "10.1.9.9", "10.1.2.3", "2001:db8::5", "192.0.2.1", "::ffff:10.1.2.3")]
    assert found == [2, 0, 7.5, 3, 0.5, 7.5]


def networks(many: int) -> str:
    return "\n".join(f"10.{n // 250}.{n % 250}.0/24 1" for n in range(many))


def test_as_many_networks_as_are_allowed_are_read(tmp_path):
    (tmp_path / "delays").write_text(networks(MAX_NETWORKS))
    assert len(read_address_delays(str(tmp_path / "delays"))) == MAX_NETWORKS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10.0.0.0/8", "line 1: expected a network and seconds"),
        ("\n10.0.0.1/8 2", "line 2: expected a network and seconds"),
        ("10.0.0.0/8 -1", "line 1: expected seconds from 0"),
        ("10.0.0.0/8 nan", "line 1: expected seconds from 0"),
        ("10.0.0.0/8 1\n10.0.0.0/8 2", "line 2: 10.0.0.0/8 is listed twice"),
        (networks(MAX_NETWORKS + 1), "more than 10000 networks"),
    ],
    ids=["no seconds", "no network", "negative", "not a number", "twice", "too many"],
)
def test_a_file_of_networks_that_cannot_be_read_is_refused_by_line(tmp_path, text, said):
    (tmp_path / "delays").write_text(text)
    with pytest.raises(ConfigError, match=f"ADDRESS_DELAYS_FILE.*{said}"):
        from_mapping({"ADDRESS_DELAYS_FILE": str(tmp_path / "delays")})


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ({}, 0.5),
        ({"DOWNLOAD_DELAY": 0}, 0.0),
        ({"DOWNLOAD_DELAY": 0.22}, 0.2),
        ({"DOWNLOAD_DELAY": 0, "ADDRESS_DELAY": 0.5}, 0.5),
        ({"ADDRESS_DELAY": 0}, 0.0),
        ({"ADDRESS_DELAY": 3}, 3.0),
    ],
)
def test_who_asks_one_site_faster_means_it_unless_the_address_has_a_delay_of_its_own(given, holds):
    assert limits_of(from_mapping(given)).address_delay == pytest.approx(holds)


@pytest.mark.parametrize("scope", ["domain", "address"])
def test_workers_ask_an_address_with_many_names_as_one_machine(tmp_path, scope):
    """Two workers, six names on two addresses: the log of each address is the judge."""
    with served(["127.0.0.120", "127.0.0.121"]) as target:
        names = addresses.names_of(6, target.hosts)
        target.sites = addresses.site(names, target)
        pace = {"ADDRESS_DELAY": 0.3, "DOWNLOAD_DELAY": 0.1, "POLITENESS_SCOPE": scope}
        addresses.crawl(names, 2, tmp_path, target, **pace)
        visits = target.log()
    assert addresses.missing(target.sites, visits) == []
    assert {report.smallest_gap >= 0.3 for report in addresses.report(0.3, visits)} == {True}


def test_what_a_page_in_the_browser_asks_for_waits_where_a_page_would_go_back(valkey_url, crawl_name):
    async def run():
        frontier = Frontier(valkey_url, crawl_name, Limits(delay=0.0, address_delay=2.5))
        await frontier.open()
        turns = Turns(frontier, InFlight(), hands_of(frontier, InFlight()))
        await turns.before_writing(Request("http://one.example/"), HERE, 30.0)
        asked = frontier.now()
        with pytest.raises(PutBack):
            await turns.before_writing(Request("http://two.example/robots.txt"), HERE, 30.0)
        script = Request("http://three.example/a.js", meta={SUBRESOURCE: True})
        await turns.before_connecting(script, HERE)
        await turns.before_writing(script, HERE, 30.0)
        assert frontier.now() - asked >= 2.5
        await frontier.close()

    asyncio.run(run())


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("late", [0.0, 0.12, 0.3])
def test_requests_of_one_domain_do_not_keep_each_other_from_its_address(valkey_url, crawl_name, workers, late):
    """Each needs the turn of its domain and that of the address at once, and a busy machine is late for the first."""
    sent = []

    async def send(turns, frontier, number):
        request = Request(f"http://one.example/{number}.json", meta={SUBRESOURCE: True})
        await turns.turn(request)
        await turns.before_connecting(request, HERE)
        await asyncio.sleep(late)
        await turns.before_writing(request, HERE, 30.0)
        sent.append(time.monotonic())

    async def run():
        fleet = [Frontier(valkey_url, crawl_name, Limits(delay=0.2, address_delay=0.18)) for _ in range(workers)]
        for frontier in fleet:
            await frontier.open()
        turns = [Turns(f, InFlight(), hands_of(f, InFlight())) for f in fleet]
        async with asyncio.timeout(20.0):  # two seconds where all goes well, and never where it does not
            await asyncio.gather(*(send(turns[n % workers], fleet[n % workers], n) for n in range(6)))
        for frontier in fleet:
            await frontier.close()

    asyncio.run(run())
    assert min(later - earlier for earlier, later in pairwise(sent)) > 0.15
