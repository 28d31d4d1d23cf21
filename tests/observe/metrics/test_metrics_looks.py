"""The exporter's looks at a frontier: few, one at a time, and what becomes of one that takes long."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable

import pytest
import redis

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.observe.metrics import export
from crawler.observe.metrics.export import FRESH_SECONDS, MOST_SHARE, SLOWER, Look, Looks
from crawler.urls.link import Link
from tests.support.clock import FakeClock
from tests.support.serving import DEADLINE

Scenario = Callable[[Frontier, Looks, Callable[[signal.Signals], None]], Awaitable[None]]


@pytest.fixture
def looking(redis_url: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Callable[[Scenario], None]:
    """Run a scenario; its third argument sends a signal to the real server: SIGSTOP makes it hang."""
    monkeypatch.setattr(export, "PATIENCE_SECONDS", 0.3)
    with redis.Redis.from_url(redis_url) as client:
        pid = int(client.info("server")["process_id"])

    async def main(scenario: Scenario) -> None:
        frontier = Frontier(redis_url, "looks", Limits(delay=1.0))
        await frontier.open()
        try:
            await scenario(frontier, Looks(frontier, asyncio.get_running_loop(), clock), lambda s: os.kill(pid, s))
        finally:
            os.kill(pid, signal.SIGCONT)
            await frontier.close()

    return lambda scenario: asyncio.run(main(scenario))


async def put(frontier: Frontier, name: str) -> None:
    await frontier.put([Link(f"http://{name}.test/", depth=1)])


async def queued(looks: Looks) -> int | None:
    look = await asyncio.to_thread(looks)
    return None if look is None else look.view.counts.queued


async def until(looks: Looks, wanted: int) -> Look:
    end = time.monotonic() + DEADLINE
    while (look := await asyncio.to_thread(looks)) is None or look.view.counts.queued != wanted:
        assert time.monotonic() < end
    return look


def test_a_look_is_used_again_until_it_is_old(looking, clock):
    async def scenario(frontier, looks, _):
        await put(frontier, "a")
        assert await queued(looks) == 1
        await put(frontier, "b")
        clock.advance(FRESH_SECONDS - 0.1)
        assert await queued(looks) == 1
        clock.advance(0.2)
        assert await queued(looks) == 2

    looking(scenario)


def test_a_look_that_outlasts_the_scrape_goes_on_and_the_scrape_shows_the_one_before(looking, clock):
    async def scenario(frontier, looks, send):
        await put(frontier, "a")
        assert await queued(looks) == 1
        await put(frontier, "b")
        clock.advance(FRESH_SECONDS)
        send(signal.SIGSTOP)
        assert await queued(looks) == 1
        under_way = looks._looking
        assert await queued(looks) == 1
        assert looks._looking is under_way is not None, "nobody began a second one"
        send(signal.SIGCONT)
        await until(looks, 2)
        assert under_way.done()
        assert not under_way.cancelled()

    looking(scenario)


def test_a_look_that_takes_many_times_as_long_as_the_one_before_is_no_answer_and_the_next_one_begins_anew(
    looking, clock
):
    async def scenario(frontier, looks, send):
        await put(frontier, "a")
        assert await queued(looks) == 1
        clock.advance(FRESH_SECONDS)
        send(signal.SIGSTOP)
        assert await queued(looks) == 1
        clock.advance(SLOWER * export.PATIENCE_SECONDS)
        assert await queued(looks) is None
        send(signal.SIGCONT)
        await until(looks, 1)

    looking(scenario)


def test_looks_take_no_more_than_their_share_of_the_time(looking, clock):
    async def scenario(frontier, looks, send):
        await put(frontier, "a")
        send(signal.SIGSTOP)
        assert await queued(looks) is None, "the first look has not ended"
        clock.advance(3.0)
        send(signal.SIGCONT)
        first = await until(looks, 1)
        await put(frontier, "b")
        clock.advance(3.0 / MOST_SHARE - 0.1)
        assert await asyncio.to_thread(looks) is first
        clock.advance(0.2)
        assert await queued(looks) == 2

    looking(scenario)
