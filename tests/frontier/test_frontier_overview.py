"""The status of a frontier: what it counts, how it reads, and what it costs with many domains."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from crawler.frontier.claims import Claims, Identity
from crawler.frontier.client import Frontier
from crawler.frontier.model import Counts, Limits, Mode
from crawler.frontier.overview import Overview, overview
from crawler.frontier.status_table import humane, render
from crawler.urls.link import Link
from tests.support.frontier_shorthand import ack


@pytest.mark.parametrize("shards", [1, 3])
def test_the_columns_of_all_domains_add_up_to_the_totals(frontier_run, clock, shards):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link(f"https://h{n % 7}.example/{n}") for n in range(70)])
        turns, paused = itertools.cycle(range(7)), 0
        for _ in range(8):
            for lease in (await frontier.lease(7)).leases:
                match next(turns):
                    case 0:
                        await frontier.hold(lease.token, clock.now + 99.0, "doubt")
                    case 1:
                        await frontier.nack(lease.token, clock.now + 99.0, "http_error")
                        paused += 1
                    case 2:
                        await frontier.nack(lease.token, None, "download_failed")
                        await frontier.nack(lease.token, None, "download_failed")
                    case 3 | 4:
                        await ack(frontier, [(lease.token, 0.1)])
            clock.advance(5.0)
        view = await overview(frontier)
        for name in ("queued", "leased", "held", "done"):
            assert sum(getattr(scope, name) for scope in view.scopes) == getattr(view.counts, name), name
        assert sum(scope.failed for scope in view.scopes) == view.counts.dead
        assert sum(scope.waiting for scope in view.scopes) == paused > 0
        assert view.hosts == 7
        assert view.rate == pytest.approx(view.counts.done / 60, rel=0.2)
        assert [s.scope for s in (await overview(frontier, top=2)).scopes] == [s.scope for s in view.scopes[:2]]

    frontier_run(scenario, delay=1.0, shards=shards, tries=2, patience=1e6, lease_seconds=900.0)


def test_the_rate_is_that_of_the_last_minute(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        clock.now = 1_700_000_000.0
        await frontier.put([Link(f"https://h{n}.example/") for n in range(200)])
        for _ in range(20):
            await ack(frontier, [(lease.token, 0.0) for lease in (await frontier.lease(10)).leases])
            clock.advance(6.0)
        assert (await overview(frontier)).rate == pytest.approx(10 / 6, rel=0.15)
        clock.advance(30.0)
        assert 0.5 < (await overview(frontier)).rate < 1.2
        clock.advance(45.0)
        assert (await overview(frontier)).rate == 0.0

    frontier_run(scenario)


def test_a_host_that_waits_although_its_turn_has_come_is_seen_by_its_age(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        assert (await overview(frontier)).oldest_ready is None
        await frontier.put([Link("https://a.example/1"), Link("https://b.example/1")])
        clock.advance(90.0)
        view = await overview(frontier)
        assert view.oldest_ready == pytest.approx(90.0)
        assert "the oldest of them ready for 1 min 30 s" in render(view)

    frontier_run(scenario)


def test_each_worker_is_listed_with_its_last_sign_of_life_and_a_silent_one_too(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        assert (await overview(frontier)).workers_seen == ()
        await Claims(frontier, Identity("w-old", "a" * 32)).enter()
        clock.advance(9.0)
        await Claims(frontier, Identity("w-new", "b" * 32)).enter()
        clock.advance(2.0)
        view = await overview(frontier)
        assert [(w.name, w.silent, w.alive) for w in view.workers_seen] == [
            ("w-new", 2.0, True),
            ("w-old", 11.0, False),
        ]
        assert view.workers == 1
        text = render(view, said="The crawl runs: 1 worker is at work.").splitlines()
        assert text[1] == "  The crawl runs: 1 worker is at work."
        assert "  worker w-new  last sign of life 2 s ago" in text
        assert "  worker w-old  last sign of life 11 s ago: silent" in text
        assert not any("worker" in line for line in render(view, one=True).splitlines())

    frontier_run(scenario, lease_seconds=900.0)


def test_urls_in_the_hands_of_a_dead_worker_are_counted_with_the_time_of_their_return(frontier_run, clock):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link(f"https://h{n}.example/") for n in range(3)])
        await Claims(frontier, Identity("w-old", "a" * 32)).enter()
        await frontier.lease(2)
        clock.advance(15.0)
        await Claims(frontier, Identity("w-new", "b" * 32)).enter()
        await frontier.lease(1)
        view = await overview(frontier)
        assert (view.counts.leased, view.left, view.left_for) == (3, 2, pytest.approx(75.0, abs=0.01))
        line = "2 leased to workers that show no sign of life: queued again within 1 min 15 s"
        assert line in " ".join(render(view).split())
        clock.advance(76.0)
        await Claims(frontier, Identity("w-new", "b" * 32)).beat()
        text = " ".join(render(await overview(frontier)).split())
        assert "2 leased to workers that show no sign of life: queued again with the next request of a worker" in text
        await frontier.lease(0)
        assert (await overview(frontier)).left == 0

    frontier_run(scenario, lease_seconds=90.0)


@pytest.mark.parametrize(
    ("mode", "workers", "word"), [(Mode.PAUSE, 0, "paused"), (Mode.DRAIN, 1, "draining"), (Mode.DRAIN, 0, "drained")]
)
def test_the_title_says_what_somebody_has_ordered_and_nothing_of_who_is_at_work(mode, workers, word):
    view = Overview("main", Counts(mode=mode), 0, 0.0, None, 0, 0, None, (), workers=workers)
    assert render(view).splitlines()[0] == f"crawl “main”: {word}; `gristmill frontier resume` lets workers go on"
    assert render(replace(view, counts=Counts())).splitlines()[0] == "crawl “main”"


def test_a_domain_nobody_knows_is_an_error(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        with pytest.raises(LookupError, match=r"a\.example: the crawl .* knows no URL of it"):
            await overview(frontier, domain="a.example")

    frontier_run(scenario)


def test_a_shortened_table_says_what_it_leaves_out(frontier_run):
    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link(f"https://h{n}.example/") for n in range(5)])
        text = render(await overview(frontier, top=2))
        assert text.endswith("… and 3 more: --top 0 shows all, --domain one, --json everything for a program")
        assert "more" not in render(await overview(frontier))

    frontier_run(scenario)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.5, "0.5 s"),
        (45.0, "45 s"),
        (60.0, "1 min"),
        (200.0, "3 min 20 s"),
        (7_500.0, "2 h 5 min"),
        (86_400.0 * 3 + 3_600 * 4, "3 d 4 h"),
        (86_400.0 * 400, "400 d"),
    ],
)
def test_durations_read_as_people_say_them(seconds, text):
    assert humane(seconds) == text


def test_reading_the_status_takes_no_scan_of_the_server_and_writes_nothing(frontier_run):
    """Counted by the server itself: the commands that a status costs grow with the pages of scopes, not with keys."""

    async def scenario(frontier: Frontier) -> None:
        await frontier.put([Link(f"https://h{n}.example/{m}") for n in range(1500) for m in range(2)])
        redis = frontier.connection.redis
        before = await redis.info("commandstats")
        view = await overview(frontier)
        after = await redis.info("commandstats")
        spent = {
            name.removeprefix("cmdstat_"): after[name]["calls"] - before.get(name, {"calls": 0})["calls"]
            for name in after
        }
        assert view.hosts == 1500
        assert spent.get("scan", 0) == spent.get("keys", 0) == 0
        assert {name for name, n in spent.items() if n} <= {
            *("zscan", "hscan", "zcard", "hmget", "zmscore", "exists", "evalsha", "eval", "info", "zrange", "hget"),
            *("hlen", "zcount", "zrangebyscore", "smembers"),
        }
        assert spent["zcard"] <= 1500 + 10

    frontier_run(scenario, **{"delay": Limits().delay})
