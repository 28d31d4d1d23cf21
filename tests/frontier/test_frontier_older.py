"""A frontier that an older version began is taken over with a sentence; a worker that cannot read it is refused."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits, Wire
from crawler.frontier.outcome import SHORT, packed_outcome
from crawler.frontier.packing import unpack
from crawler.frontier.rules import FORMAT, join_rules
from crawler.frontier.seeding import join_scope
from crawler.seeds.scope import Scope
from crawler.server.errors import FrontierError
from crawler.urls.candidate import Candidate
from crawler.urls.shape import shape_id_of

OLDER = Path(__file__).parent / "older" / "e4dd7e7.json"
"""All keys of a crawl as the version of that commit left them: 11 queued (one after a failed try), 1 leased, 1 on hold,
3 done. Made by its own code: seed, list pages and posts of old.example, with a queue of four."""
HOST = "https://old.example"
NOW = 1_767_225_600.0
ALL = {f"{HOST}/", *(f"{HOST}/list?page={n}" for n in range(3)), *(f"{HOST}/post/{n}" for n in range(12))}


async def restore(frontier: Frontier) -> None:
    redis, plain = frontier.connection.redis, base64.b64decode
    for name, (kind, value) in json.loads(OLDER.read_text()).items():
        if not name.startswith("{older.0}:"):
            continue
        key = frontier.prefix(0) + name.removeprefix("{older.0}:")
        match kind:
            case "string":
                await redis.set(key, plain(value))
            case "hash":
                await redis.hset(key, mapping={plain(field): plain(item) for field, item in value})
            case "zset":
                await redis.zadd(key, {plain(member): score for member, score in value})
            case "list":
                await redis.rpush(key, *map(plain, value))
            case "set":
                await redis.sadd(key, *map(plain, value))


@pytest.fixture
def older(valkey_url, crawl_name, frontier_run):
    """Run a scenario against the older frontier, a minute after it was left."""

    def run(scenario, **limits):
        async def restored(frontier):
            frontier.now = lambda: NOW + 200.0
            await restore(frontier)
            await scenario(frontier)

        frontier_run(restored, delay=0.0, **limits)

    return run


async def crawl(frontier: Frontier) -> list[str]:
    asked = []
    while leases := (await frontier.lease(1)).leases:
        (lease,) = leases
        asked.append(lease.url)
        brought = packed_outcome(lease, SHORT, 0.0)
        await frontier.settle([(lease.token, Wire(frontier.now(), 0.0), b"", brought)])
    return asked


def test_it_is_taken_over_with_a_sentence_once_and_every_url_is_finished_once(older, caplog):
    async def scenario(frontier):
        counts = await frontier.counts()
        assert (counts.queued, counts.leased, counts.held, counts.done) == (11, 1, 1, 3)
        config = from_mapping({"DOWNLOAD_DELAY": 0})
        with caplog.at_level(logging.WARNING):
            await join_rules(frontier, config)
            await join_rules(frontier, config)
        said = [record.getMessage() for record in caplog.records if "older version" in record.getMessage()]
        assert len(said) == 1
        assert f"crawl {frontier.crawl!r} was begun by an older version: its frontier is taken over" in said[0]
        await frontier.order_by_value()
        await frontier.requeue("held")
        asked = await crawl(frontier)
        assert len(asked) == len(set(asked)) == 13
        assert set(asked) <= ALL
        assert (await frontier.counts()).done == 16

    older(scenario)


def test_its_links_are_never_parked_and_new_ones_beside_them_are(older):
    async def scenario(frontier):
        await frontier.order_by_value()
        parent = shape_id_of(f"{HOST}/")
        new = [Candidate(f"{HOST}/tag/{n}", -1, 1, mark=0, parent=parent) for n in range(30)]
        known = [Candidate(url, -1, 1, mark=0, parent=parent) for url in ALL]
        assert {status.value for status in await frontier.put(known)} == {"seen"}
        await frontier.put(new)
        await frontier.requeue("held")
        asked = await crawl(frontier)
        assert sum(f"{HOST}/tag/" in url for url in asked) < 30
        counts = await frontier.counts()
        assert counts.done == 3 + len(asked)
        assert counts.queued == 0
        parked = await frontier.connection.redis.lrange(frontier.prefix(0) + "z:old.example", 0, -1)
        assert counts.barren == len(parked) == 43 - len(asked)
        assert all("/tag/" in unpack(member.decode(), "old.example").url for member in parked)

    older(scenario, barren=5)


def test_a_worker_that_knows_no_shapes_cannot_read_the_rules_or_the_scope(older):
    async def scenario(frontier):
        await join_rules(frontier, from_mapping({"DOWNLOAD_DELAY": 0}))
        await join_scope(frontier, Scope())
        assert json.loads(await frontier.rules_get())[0] == FORMAT  # versions before looked for an object
        assert json.loads(await frontier.scope_get())["format"] == 2  # and for format 1
        assert json.loads(await frontier.scope_get())["link_hosts"] == ["old.example"]

    older(scenario)


def test_rules_of_the_version_before_are_taken_over(frontier_run, caplog):
    async def scenario(frontier):
        config = from_mapping({"DOWNLOAD_DELAY": 3})
        await join_rules(frontier, config)
        values = json.loads(await frontier.rules_get())[1]
        await frontier.rules_set(json.dumps(values | {"DOWNLOAD_DELAY": 9.0}))
        await join_rules(frontier, config)
        assert frontier.limits.delay == 9.0
        assert json.loads(await frontier.rules_get())[0] == FORMAT
        assert "older version" in caplog.text

    frontier_run(scenario, delay=3.0)


def test_a_frontier_whose_links_know_no_source_is_taken_over_without_a_word(frontier_run, caplog):
    async def scenario(frontier):
        await frontier.put([Candidate(f"{HOST}/a", -1, 1, mark=0, parent="abc")])
        await join_rules(frontier, from_mapping({}))
        values = json.loads(await frontier.rules_get())[1]
        await frontier.rules_set(json.dumps([2, values]))
        await join_rules(frontier, from_mapping({}))
        assert json.loads(await frontier.rules_get()) == [FORMAT, values]  # a worker of before is refused from here on
        assert "older version" not in caplog.text
        (lease,) = (await frontier.lease(1)).leases
        assert (lease.parent, lease.source) == ("abc", "")

    frontier_run(scenario)


def test_a_frontier_of_a_newer_version_is_refused_with_what_to_do(frontier_run):
    async def scenario(frontier):
        await frontier.rules_set(json.dumps([FORMAT + 1, {}]))
        with pytest.raises(
            FrontierError,
            match=rf"newer version \(its frontier has format {FORMAT + 1}, this version knows {FORMAT}\): use that",
        ):
            await join_rules(frontier, from_mapping({}))

    frontier_run(scenario)


def test_a_new_frontier_is_nobodys(frontier_run, caplog):
    async def scenario(frontier):
        assert frontier.limits == Limits()
        await frontier.put([Candidate(f"{HOST}/")])
        await join_scope(frontier, Scope())
        await join_rules(frontier, from_mapping({}))
        assert "older version" not in caplog.text

    frontier_run(scenario)
