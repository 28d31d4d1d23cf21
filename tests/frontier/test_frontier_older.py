"""A frontier that another version began is refused with a sentence, and never misread."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.frontier.client import Frontier
from crawler.frontier.member import FORMAT
from crawler.frontier.model import Limits
from crawler.frontier.rules import adopt_rules, join_rules
from crawler.frontier.seeding import join_scope
from crawler.seeds.scope import Scope
from crawler.server.errors import FrontierError
from crawler.urls.link import Link

OLDER = Path(__file__).parent / "older" / "e4dd7e7.json"
"""All keys of a crawl as the version of that commit left them: 11 queued (one after a failed try), 1 leased, 1 on hold,
3 done. Made by its own code: seed, list pages and posts of old.example, with a queue of four."""
HOST = "https://old.example"
NOW = 1_767_225_600.0


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


async def everything(frontier: Frontier) -> dict[bytes, bytes]:
    """All keys of the crawl, as the server would write them down."""
    redis = frontier.connection.redis
    return {key: await redis.dump(key) async for key in redis.scan_iter(f"{frontier.prefix(0)}*")}


@pytest.mark.parametrize("join", [lambda f: join_rules(f, from_mapping({"CRAWL_RULES": "replace"})), adopt_rules])
def test_the_frontier_of_an_older_version_is_refused_with_what_to_do_and_left_as_it_is(older, join):
    async def scenario(frontier):
        before = await everything(frontier)
        with pytest.raises(FrontierError) as error:
            await join(frontier)
        assert str(error.value) == (
            f"crawl {frontier.crawl!r} was begun by an older version (its frontier has format 1, this version knows "
            f"{FORMAT}): finish it with that version, or start another crawl (another CRAWL_ID). Or remove its "
            "frontier, and the next start rebuilds it from CORPUS_DIR"
        )
        assert await everything(frontier) == before

    older(scenario)


def test_a_url_that_an_older_version_queued_stops_whoever_leases_it(older):
    async def scenario(frontier):
        with pytest.raises(FrontierError, match=r"queued by another version of this program as '1\.0~p1 s/post/0'"):
            await frontier.lease(1)

    older(scenario)


@pytest.mark.parametrize("format_", [2, 3, FORMAT - 1])
def test_rules_of_a_version_before_are_refused(frontier_run, format_):
    async def scenario(frontier):
        await join_rules(frontier, from_mapping({}))
        _, values = json.loads(await frontier.shared.rules_get())
        await frontier.shared.rules_set(json.dumps([format_, values]))
        with pytest.raises(FrontierError, match=rf"an older version \(its frontier has format {format_}, "):
            await join_rules(frontier, from_mapping({}))

    frontier_run(scenario)


def test_rules_that_had_no_number_yet_are_refused(frontier_run):
    async def scenario(frontier):
        await frontier.shared.rules_set(json.dumps({"DOWNLOAD_DELAY": 3.0}))
        with pytest.raises(FrontierError, match=r"an older version \(its frontier has format 1, "):
            await join_rules(frontier, from_mapping({}))

    frontier_run(scenario)


def test_a_frontier_of_a_newer_version_is_refused_with_what_to_do(frontier_run):
    async def scenario(frontier):
        await frontier.shared.rules_set(json.dumps([FORMAT + 1, {}]))
        with pytest.raises(
            FrontierError,
            match=rf"newer version \(its frontier has format {FORMAT + 1}, this version knows {FORMAT}\): finish",
        ):
            await join_rules(frontier, from_mapping({}))

    frontier_run(scenario)


def test_a_new_frontier_is_nobodys(frontier_run, caplog):
    async def scenario(frontier):
        assert frontier.limits == Limits()
        await frontier.put([Link(f"{HOST}/")])
        await join_scope(frontier, Scope())
        await join_rules(frontier, from_mapping({}))
        assert "older version" not in caplog.text

    frontier_run(scenario)
