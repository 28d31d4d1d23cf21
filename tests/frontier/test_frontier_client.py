"""The frontier's promises, one scenario each, against a real Valkey."""

from __future__ import annotations

import asyncio

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Mode, Nack, PutStatus, Wire
from crawler.frontier.unfinished import held
from crawler.server.errors import FrontierMisconfigured, FrontierUnavailable
from crawler.urls.link import Link
from tests.support.frontier_shorthand import ack, dead, reserve


def pages(*paths: str, host: str = "https://a.example") -> list[Link]:
    return [Link(f"{host}/{path}") for path in paths]


def test_a_url_put_twice_is_queued_once(frontier_run):
    async def scenario(frontier):
        assert await frontier.put(pages("1", "2", "1")) == [PutStatus.QUEUED, PutStatus.QUEUED, PutStatus.SEEN]
        assert await frontier.put(pages("1")) == [PutStatus.SEEN]
        counts = await frontier.counts()
        assert (counts.queued, counts.seen) == (2, 2)

    frontier_run(scenario)


def test_a_lease_carries_everything_that_was_put(frontier_run, clock):
    candidate = Link(
        "https://www.a.example/x?y=1", priority=-3, depth=7, kind="sitemap", redirects=("http://b.example/old",)
    )

    async def scenario(frontier):
        await frontier.put([candidate])
        (lease,) = (await frontier.lease(5)).leases
        assert (lease.url, lease.scope, lease.kind, lease.link.depth) == (candidate.url, "a.example", "sitemap", 7)
        assert (lease.link.priority, lease.link.redirects, lease.attempt) == (-3, candidate.redirects, 1)
        assert lease.expires_at == clock.now + 120.0

    frontier_run(scenario)


def test_higher_priority_comes_first_and_equals_in_their_order(frontier_run):
    async def scenario(frontier):
        await frontier.put([Link(f"https://a.example/{p}-{i}", priority=p) for p in (-1, 0, 9) for i in (1, 2)])
        order = []
        while leases := (await frontier.lease(1)).leases:
            order.append(leases[0].url.rpartition("/")[2])
            await ack(frontier, [(leases[0].token, 0.0)])
        assert order == ["9-1", "9-2", "0-1", "0-2", "-1-1", "-1-2"]

    frontier_run(scenario, delay=0.0)


def test_one_scope_is_asked_once_per_delay_by_all_its_hosts_together(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1") + pages("1", host="https://www.a.example") + pages("1", host="https://b.example"))
        first = (await frontier.lease(10)).leases
        assert sorted(lease.scope for lease in first) == ["a.example", "b.example"]
        await ack(frontier, [(lease.token, 0.0) for lease in first])
        clock.advance(1.9)
        assert not (await frontier.lease(10)).leases
        clock.advance(0.1)
        assert len((await frontier.lease(10)).leases) == 1

    frontier_run(scenario, delay=2.0)


def test_concurrency_is_counted_until_the_request_is_over_not_until_the_page_is_settled(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1", "2", "3"))
        (first,) = (await frontier.lease(10)).leases
        clock.advance(60.0)
        assert not (await frontier.lease(10)).leases
        await frontier.finish([(first.token, None)])
        assert len((await frontier.lease(10)).leases) == 1
        assert await ack(frontier, [(first.token, None)]) == [True]

    frontier_run(scenario, delay=0.0, concurrency=1)


def test_a_slow_host_rests_as_long_as_its_answer_took(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1", "2"))
        (first,) = (await frontier.lease(10)).leases
        clock.advance(5.0)
        await ack(frontier, [(first.token, 5.0)])
        clock.advance(4.9)
        assert not (await frontier.lease(10)).leases
        clock.advance(0.1)
        assert (await frontier.lease(10)).leases

    frontier_run(scenario, delay=1.0, latency_factor=1.0)


def test_a_url_that_needed_no_request_gives_its_turn_to_the_next_one(frontier_run):
    async def scenario(frontier):
        await frontier.put(pages("1", "2"))
        (first,) = (await frontier.lease(10)).leases
        await ack(frontier, [(first.token, None)])
        assert len((await frontier.lease(10)).leases) == 1

    frontier_run(scenario, delay=30.0)


def test_a_silent_workers_leases_return_and_cost_nothing(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1"))
        (first,) = (await frontier.lease(1)).leases
        clock.advance(9.9)
        assert not (await frontier.lease(1)).leases
        clock.advance(0.1)
        (second,) = (await frontier.lease(1)).leases
        assert (second.url, second.attempt, second.reasons) == (first.url, 1, ())
        assert await ack(frontier, [(first.token, 0.0)]) == [False]
        assert (await frontier.counts()).leased == 1
        assert await ack(frontier, [(second.token, 0.0)]) == [True]
        assert (await frontier.counts()).done == 1

    frontier_run(scenario, lease_seconds=10.0, delay=0.0)


def test_a_heartbeat_keeps_leases_and_names_the_lost_ones(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1") + pages("1", host="https://b.example"))
        first, second = (await frontier.lease(2)).leases
        await ack(frontier, [(second.token, 0.0)])
        clock.advance(9.0)
        assert await frontier.extend([first.token, second.token]) == [second.token]
        clock.advance(9.0)
        assert not (await frontier.lease(2)).leases
        assert await ack(frontier, [(first.token, 0.0)]) == [True]

    frontier_run(scenario, lease_seconds=10.0)


def test_a_failed_try_comes_back_at_its_time_and_the_last_one_becomes_a_dead_letter(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1"))
        (lease,) = (await frontier.lease(1)).leases
        assert await frontier.nack(lease.token, clock.now + 30.0, "HTTP 500") is Nack.QUEUED
        clock.advance(29.9)
        assert not (await frontier.lease(1)).leases
        clock.advance(0.1)
        (lease,) = (await frontier.lease(1)).leases
        assert (lease.attempt, lease.reasons) == (2, ("HTTP 500",))
        assert await frontier.nack(lease.token, None, "reset") is Nack.EXHAUSTED
        assert (await frontier.counts()).leased == 1  # until the loss is recorded
        assert await ack(frontier, [(lease.token, None)]) == [True]
        counts = await frontier.counts()
        assert (counts.queued, counts.leased, counts.done, counts.dead) == (0, 0, 0, 1)
        assert [d async for d in dead(frontier)] == [("https://a.example/1", ("HTTP 500", "reset"))]
        assert await frontier.control.requeue("dead") == 1
        (lease,) = (await frontier.lease(1)).leases
        assert lease.attempt == 1

    frontier_run(scenario, tries=2, delay=0.0)


def test_a_released_lease_keeps_its_place_and_its_tries(frontier_run):
    async def scenario(frontier):
        await frontier.put(pages("1", "2"))
        (lease,) = (await frontier.lease(1)).leases
        await frontier.release([lease.token])
        (again,) = (await frontier.lease(1)).leases
        assert (again.url, again.attempt) == (lease.url, 1)
        assert again.token != lease.token

    frontier_run(scenario, delay=10.0)


def test_what_is_on_hold_does_not_keep_the_crawl_going_but_is_tried_while_there_is_other_work(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1"))
        (lease,) = (await frontier.lease(1)).leases
        until = await frontier.hold(lease.token, clock.now + 60.0, "robots.txt answers 503")
        assert until == clock.now + 60.0
        batch = await frontier.lease(1)
        assert (batch.counts.pending, batch.counts.held) == (0, 1)
        clock.advance(100.0)
        assert not (await frontier.lease(1)).leases  # nothing else to do: it stays
        assert [h async for h in held(frontier)] == [("https://a.example/1", "robots.txt answers 503", until)]
        await frontier.put(pages("1", host="https://b.example"))
        await frontier.lease(1)
        await frontier.lease(1)
        (again,) = (await frontier.lease(1)).leases
        assert (again.url, again.attempt, again.holds) == (lease.url, 1, 1)
        assert await frontier.hold(again.token, 0.0, "still") == clock.now + 60.0  # the second pause is longer

    frontier_run(scenario, delay=0.0)


def test_a_later_run_tries_what_is_due(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1"))
        (lease,) = (await frontier.lease(1)).leases
        await frontier.hold(lease.token, clock.now + 60.0, "robots.txt answers 503")
        assert await frontier.control.requeue("due") == 0
        clock.advance(60.0)
        assert await frontier.control.requeue("due") == 1
        assert (await frontier.lease(1)).leases[0].url == lease.url

    frontier_run(scenario)


def test_a_blocked_scope_waits_for_all_workers_and_a_long_block_does_not_keep_the_crawl_going(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1", "2"))
        await frontier.politeness.block("a.example", clock.now + 300.0, "Retry-After")
        batch = await frontier.lease(1)
        assert not batch.leases
        assert (batch.counts.queued, batch.counts.waiting, batch.counts.pending) == (2, 2, 0)
        assert [reason async for _, reason, _ in held(frontier)] == ["Retry-After"] * 2
        clock.advance(250.0)
        assert (await frontier.counts()).pending == 2
        clock.advance(50.0)
        assert (await frontier.lease(1)).leases

    frontier_run(scenario, patience=60.0)


def test_a_reserved_turn_moves_the_scopes_next_turn_behind_it(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1"))
        start = clock.now
        assert await reserve(frontier, "https://www.a.example/robots.txt") == start
        assert await reserve(frontier, "https://a.example/robots.txt") == start + 2.0
        assert (await frontier.lease(1)).next_ready_at == start + 4.0
        clock.advance(4.0)
        (lease,) = (await frontier.lease(1)).leases
        clock.advance(0.5)
        at, slot = await frontier.politeness.claim("a.example", lease.slot)  # its own slot, a little late
        assert at == clock.now
        at, _ = await frontier.politeness.claim("a.example", 0)
        assert at == clock.now + 2.0 == slot / 1000

    frontier_run(scenario, delay=2.0)


def test_a_turn_that_is_too_far_away_is_not_taken(frontier_run, clock):
    async def scenario(frontier):
        await frontier.politeness.claim("a.example", 0)
        at, _ = await frontier.politeness.claim("a.example", 0, within=1.9)
        assert at == clock.now + 2.0
        at, slot = await frontier.politeness.claim("a.example", 0, within=2.0)
        assert (at, slot / 1000) == (clock.now + 2.0, clock.now + 4.0), "nobody has taken it before"

    frontier_run(scenario, delay=2.0)


def test_the_pace_of_a_scope_is_no_block_and_keeps_a_crawl_going(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1"))
        await frontier.politeness.rest("a.example", clock.now + 300.0)
        batch = await frontier.lease(1)
        assert not batch.leases
        assert (batch.counts.pending, batch.next_ready_at) == (1, clock.now + 300.0)
        assert [url async for url in held(frontier)] == []
        clock.advance(300.0)
        assert (await frontier.lease(1)).leases

    frontier_run(scenario, patience=60.0)


def test_a_scope_may_have_a_longer_delay_but_never_a_shorter_one(frontier_run, clock):
    async def scenario(frontier):
        await frontier.politeness.set_delay("a.example", 5.0, "robots:x")
        await frontier.politeness.set_delay("b.example", 0.1, "robots:x")
        assert await reserve(frontier, "https://a.example/") == clock.now
        assert await reserve(frontier, "https://a.example/") == clock.now + 5.0
        assert await reserve(frontier, "https://b.example/") == clock.now
        assert await reserve(frontier, "https://b.example/") == clock.now + 1.0

    frontier_run(scenario, delay=1.0)


def test_caps_refuse_without_remembering(frontier_run):
    async def scenario(frontier):
        deep = Link("https://a.example/deep", depth=4)
        assert await frontier.put(pages("1", "2", "3")) == [PutStatus.QUEUED, PutStatus.QUEUED, PutStatus.CAPPED]
        assert await frontier.put([*pages("1"), deep]) == [PutStatus.SEEN, PutStatus.CAPPED]
        assert (await frontier.counts()).seen == 2

    frontier_run(scenario, max_pages=2, depth=3)


def test_a_candidates_cap_counts_the_pages_of_its_scope_and_never_exceeds_the_crawls(frontier_run):
    async def scenario(frontier):
        def capped(path: str, cap: int) -> Link:
            return Link(f"https://www.a.example/{path}", cap=cap)

        queued, full = PutStatus.QUEUED, PutStatus.CAPPED
        assert await frontier.put([capped(str(i), 2) for i in range(3)]) == [queued, queued, full]
        assert await frontier.put([*pages("other"), capped("1", 2)]) == [queued, PutStatus.SEEN]
        assert await frontier.put([capped("x", 9), capped("y", 9)]) == [queued, full]  # the crawl takes four
        assert await frontier.put(pages("z", host="https://b.example")) == [queued]

    frontier_run(scenario, max_pages=4)


def test_a_purged_scope_is_emptied_and_takes_nothing_new(frontier_run, clock):
    async def scenario(frontier):
        await frontier.put(pages("1", "2", "3") + pages("1", host="https://b.example"))
        leases = (await frontier.lease(2)).leases
        mine = next(lease for lease in leases if lease.scope == "a.example")
        assert await frontier.control.purge("a.example") == 2
        assert await frontier.nack(mine.token, None, "reset") is Nack.QUEUED
        assert await frontier.put(pages("4")) == [PutStatus.BLOCKED]
        counts = await frontier.counts()
        assert (counts.queued, counts.purged, counts.leased) == (0, 3, 1)

    frontier_run(scenario)


def test_pause_stops_leases_and_drain_leaves_only_what_is_leased_pending(frontier_run):
    async def scenario(frontier):
        await frontier.put(pages("1", "2"))
        await frontier.control.set_mode(Mode.PAUSE)
        batch = await frontier.lease(1)
        assert (batch.leases, batch.counts.pending) == ((), 2)
        await frontier.control.set_mode(Mode.DRAIN)
        assert (await frontier.lease(1)).counts.pending == 0
        await frontier.control.set_mode(Mode.RUN)
        assert (await frontier.lease(1)).leases

    frontier_run(scenario)


def test_what_is_asked_about_by_the_thousand_is_a_table_from_its_first_entry_on(frontier_run):
    async def scenario(frontier):
        redis, prefix = frontier.connection.redis, frontier.prefix(0)
        await frontier.put(pages("1", "2"))
        await frontier.put([Link("https://b.example/")])
        first, second = (await frontier.lease(2)).leases
        for name, encoding in (("busy", b"hashtable"), ("lease", b"hashtable"), ("leases", b"skiplist")):
            assert await redis.object("encoding", prefix + name) == encoding
        assert set(await redis.hkeys(prefix + "lease")) == {first.token.encode(), second.token.encode()}
        assert await redis.zcard(prefix + "leases") == await redis.hlen(prefix + "busy") == 2
        await ack(frontier, [(first.token, 0.1)])
        assert await redis.object("encoding", prefix + "done") == b"hashtable"
        assert await redis.hgetall(prefix + "done") == {first.scope.encode(): b"1"}

    frontier_run(scenario)


def test_a_token_twice_in_one_call_counts_once(frontier_run):
    async def scenario(frontier):
        await frontier.put(pages("1"))
        (lease,) = (await frontier.lease(1)).leases
        assert await ack(frontier, [(lease.token, 0.1), (lease.token, 0.1)]) == [True, True]
        assert (await frontier.counts()).done == 1

    frontier_run(scenario)


def test_of_many_hosts_only_those_with_pages_left_are_ready_again(frontier_run):
    async def scenario(frontier):
        hosts = [f"https://h{i}.example/" for i in range(23)]
        left = {host for i, host in enumerate(hosts) if i % 5 == 1 or 9 <= i < 14}
        await frontier.put([Link(host + "1") for host in hosts] + [Link(host + "2") for host in left])
        batch = await frontier.lease(23)
        await frontier.finish((lease.token, Wire(frontier.now(), 0.1)) for lease in batch.leases)
        ready = await frontier.connection.redis.zrange(frontier.prefix(0) + "ready", 0, -1)
        assert {f"https://{scope.decode()}/" for scope in ready} == left

    frontier_run(scenario)


def test_the_seen_set_stays_in_integer_sets(frontier_run):
    async def scenario(frontier):
        await frontier.put([Link(f"https://a.example/{i}") for i in range(5000)])
        redis = frontier.connection.redis
        keys = [key async for key in redis.scan_iter(frontier.prefix(0) + "s:*")]
        assert {await redis.object("encoding", key) for key in keys} == {b"intset"}
        sizes = [await redis.scard(key) for key in keys]
        assert sum(sizes) == 5000
        assert max(sizes) <= 512
        assert set(await frontier.put([Link(f"https://a.example/{i}") for i in range(5000)])) == {PutStatus.SEEN}

    frontier_run(scenario)


def test_all_keys_of_a_shard_share_one_cluster_slot(frontier_run, clock):
    async def scenario(frontier):
        candidates = [Link(f"https://{h}.example/{i}") for h in "abcdefgh" for i in range(3)]
        await frontier.put(candidates)
        leases = (await frontier.lease(6)).leases
        await frontier.hold(leases[0].token, clock.now + 9, "x")
        await frontier.nack(leases[1].token, clock.now + 9, "x")
        await frontier.nack(leases[2].token, None, "x")
        await frontier.finish([(leases[3].token, None)])
        await ack(frontier, [(leases[3].token, 1.0)])
        for scope in ("a.example", "b.example", "c.example"):
            await frontier.politeness.block(scope, clock.now + 99, "x")
            await frontier.politeness.set_delay(scope, 3, "robots:x")
        await frontier.control.purge("h.example")
        redis = frontier.connection.redis
        tags = {}
        async for key in redis.scan_iter(f"{{{frontier.crawl}.*"):
            tags.setdefault(key.partition(b"}")[0], set()).add(await redis.execute_command("CLUSTER", "KEYSLOT", key))
        assert len(tags) > 1
        assert all(len(slots) == 1 for slots in tags.values())

    frontier_run(scenario, shards=4, max_pages=100)


def test_shards_add_up(frontier_run):
    async def scenario(frontier):
        candidates = [Link(f"https://{h}.example/{i}") for h in "abcdefgh" for i in range(3)]
        assert set(await frontier.put(candidates)) == {PutStatus.QUEUED}
        leases = (await frontier.lease(8)).leases
        assert {lease.scope for lease in leases} == {f"{h}.example" for h in "abcdefgh"}
        assert await ack(frontier, [(lease.token, 0.0) for lease in leases]) == [True] * 8
        counts = await frontier.counts()
        assert (counts.queued, counts.leased, counts.done, counts.seen) == (16, 0, 8, 24)

    frontier_run(scenario, shards=4)


def test_a_server_that_evicts_is_refused_with_the_fix(frontier_run, valkey_url):
    async def scenario(frontier):
        redis = frontier.connection.redis
        await redis.config_set("maxmemory-policy", "allkeys-lru")
        try:
            with pytest.raises(FrontierMisconfigured, match="CONFIG SET maxmemory-policy noeviction"):
                await Frontier(valkey_url, "x", Limits()).open()
        finally:
            await redis.config_set("maxmemory-policy", "noeviction")

    frontier_run(scenario)


def test_an_absent_server_is_named_without_its_password(tmp_path):
    frontier = Frontier("redis://user:secret@127.0.0.1:1/0", "x")
    with pytest.raises(FrontierUnavailable, match=r"redis://127\.0\.0\.1:1/0") as caught:
        asyncio.run(frontier.open())
    assert "secret" not in str(caught.value)


def test_control_files_are_shared_and_fetched_once(frontier_run):
    fetched = []

    async def scenario(frontier):
        async def robots() -> bytes | None:
            async with frontier.shared.single_flight("https://a.example") as first:
                if first and await frontier.shared.get_blob("https://a.example") is None:
                    fetched.append(1)
                    await frontier.shared.put_blob("https://a.example", b"\x00robots", ttl=60.0)
            return await frontier.shared.get_blob("https://a.example")

        assert await frontier.shared.get_blob("https://a.example") is None
        assert await asyncio.gather(*(robots() for _ in range(5))) == [b"\x00robots"] * 5
        assert fetched == [1]

    frontier_run(scenario)


def test_the_crawls_scope_is_kept_for_other_workers(frontier_run):
    async def scenario(frontier):
        assert await frontier.shared.scope_get() is None
        await frontier.shared.scope_set('{"hosts": ["a.example"]}')
        assert await frontier.shared.scope_get() == '{"hosts": ["a.example"]}'

    frontier_run(scenario)


def test_a_lower_limit_of_another_worker_holds_at_once(frontier_run, clock, valkey_url, crawl_name):
    async def scenario(frontier):
        await frontier.put(pages("1", "2", "3", "4"))
        strict = Frontier(valkey_url, crawl_name, Limits(delay=0.0, concurrency=1), now=clock)
        await strict.open()
        (first,) = (await frontier.lease(1)).leases
        assert not (await strict.lease(10)).leases, "one request is under way, and only one is allowed here"
        assert await ack(strict, [(first.token, 0.0)]) == [True]
        (second,) = (await strict.lease(10)).leases
        assert len((await frontier.lease(10)).leases) <= 1
        assert await ack(strict, [(second.token, 0.0)]) == [True]
        counts = await strict.counts()
        assert counts.queued + counts.leased == 2
        await strict.close()

    frontier_run(scenario, delay=0.0, concurrency=2)


def test_a_scope_that_was_lowered_to_one_request_is_served_to_the_end(frontier_run, clock, valkey_url, crawl_name):
    async def scenario(frontier):
        await frontier.put(pages("1", "2", "3", "4"))
        under_way = (await frontier.lease(10)).leases
        assert len(under_way) == 2
        strict = Frontier(valkey_url, crawl_name, Limits(delay=0.0, concurrency=1), now=clock)
        await strict.open()
        for lease in under_way:
            assert await ack(strict, [(lease.token, 0.0)]) == [True]
        for _ in range(2):
            (lease,) = (await strict.lease(10)).leases
            assert await ack(strict, [(lease.token, 0.0)]) == [True]
        assert (await strict.counts()).done == 4
        await strict.close()

    frontier_run(scenario, delay=0.0, concurrency=2)


def test_a_delay_survives_in_every_place_it_is_kept(frontier_run, clock):
    """Under way, ready, and neither of both: the queue ran empty and is filled again before the delay is over."""

    async def scenario(frontier):
        await frontier.put(pages("1"))
        (lease,) = (await frontier.lease(10)).leases
        await ack(frontier, [(lease.token, 0.0)])
        await frontier.put(pages("2"))
        assert not (await frontier.lease(10)).leases
        clock.advance(1.999)
        assert not (await frontier.lease(10)).leases
        clock.advance(0.001)
        (lease,) = (await frontier.lease(10)).leases
        await frontier.put(pages("3"))
        await frontier.finish([(lease.token, None)])  # never sent: the turn goes to the next URL at once
        assert len((await frontier.lease(10)).leases) == 1

    frontier_run(scenario, delay=2.0)
