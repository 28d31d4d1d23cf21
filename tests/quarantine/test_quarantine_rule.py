"""A domain that gives far less text than it used to is noticed; ordinary sites are left alone."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier.client import Frontier
from crawler.quarantine.history import MemoryYields, SharedYields
from crawler.quarantine.rule import Event, History, YieldRule
from crawler.server.embedded import EmbeddedServer

GOOD, WALL = 0.4, 0.02


def run(values, rule=None):
    history, rule = History(), rule or YieldRule()
    return [rule.see(history, value) for value in values], history


def test_a_wall_is_noticed_within_a_window_and_its_pages_are_set_aside():
    judged, history = run([GOOD] * 60 + [WALL] * 40)
    assert history.quarantined
    assert [j.event for j in judged].count(Event.FELL) == 1
    first = next(i for i, j in enumerate(judged) if j.low)
    assert 60 < first < 80
    assert all(j.low for j in judged[first:])
    assert not any(j.low for j in judged[:60])


def test_nothing_is_said_before_there_is_a_history():
    judged, history = run([GOOD] * 30 + [WALL] * 10)
    assert not history.quarantined
    assert not any(j.low for j in judged)


def test_a_wall_that_stays_up_does_not_become_what_is_usual():
    judged, history = run([GOOD] * 60 + [WALL] * 2000)
    assert history.quarantined
    assert judged[-1].low
    assert history.usual == pytest.approx(judged[100].usual)


def test_a_domain_comes_back_by_itself_when_its_text_does():
    judged, history = run([GOOD] * 60 + [WALL] * 40 + [GOOD] * 40)
    assert not history.quarantined
    assert [j.event for j in judged if j.event] == [Event.FELL, Event.RECOVERED]
    assert not any(j.low for j in judged[100:])  # a rich page is kept in a quarantine, too


def test_a_site_of_rich_and_poor_pages_is_left_alone():
    judged, _ = run([0.5, 0.1, 0.4, 0.05, 0.3] * 60)
    assert not any(j.low for j in judged)


def test_the_rule_can_be_switched_off():
    judged, _ = run([GOOD] * 60 + [0.0] * 60, YieldRule(share=0.0))
    assert not any(j.low for j in judged)


def test_the_state_of_a_domain_is_small_and_survives_its_storage():
    _, history = run([GOOD] * 5000)
    assert len(history.dump()) < 180
    assert History.load(history.dump()) == history
    assert History.load("") == History()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 2), max_size=120), st.integers(2, 10), st.integers(1, 20))
def test_storing_the_state_after_every_page_changes_nothing(values, window, pages):
    rule, history, line = YieldRule(0.6, pages, window), History(), ""
    for value in values:
        stored = History.load(line)
        assert rule.see(stored, value) == rule.see(history, value)
        line = stored.dump()


@pytest.fixture(scope="module")
def server_url(tmp_path_factory):
    server = EmbeddedServer(tmp_path_factory.mktemp("yields"))
    yield server.start()
    server.stop()


def with_two_workers(url, crawl, work):
    async def main():
        workers = [Frontier(url, crawl), Frontier(url, crawl)]
        for worker in workers:
            await worker.open()
        try:
            return await work(*(SharedYields(YieldRule(), worker) for worker in workers))
        finally:
            for worker in workers:
                await worker.close()

    return asyncio.run(main())


def test_workers_share_one_history_and_agree_with_a_single_process(server_url):
    values = [GOOD] * 60 + [WALL] * 30

    async def work(a, b):
        return [await (a, b)[i % 2].see("a.test", value) for i, value in enumerate(values)]

    async def alone():
        memory = MemoryYields(YieldRule())
        return [await memory.see("a.test", value) for value in values]

    assert with_two_workers(server_url, "one", work) == asyncio.run(alone())


def test_no_page_is_lost_where_two_workers_write_at_once(server_url):
    async def work(a, b):
        await asyncio.gather(*(worker.see("a.test", GOOD) for worker in (a, b) for _ in range(40)))
        return await a.see("a.test", GOOD)

    judgement = with_two_workers(server_url, "two", work)
    assert judgement.usual == judgement.recent == pytest.approx(GOOD)

    async def count(a, _):
        redis = a._frontier.connection.redis
        return History.load(bytes(await redis.get(a._key("a.test"))).decode())

    history = with_two_workers(server_url, "two", count)
    assert history.pages + len(history.latest) == 81


def test_a_domain_in_quarantine_is_listed_until_it_is_released_or_recovers(server_url):
    async def fall(yields, domain):
        for value in [GOOD] * 60 + [WALL] * 30:
            await yields.see(domain, value)

    async def work(a, b):
        await fall(a, "a.test")
        await fall(a, "b.test")
        listed = list(await b.quarantined())
        released = await b.release("a.test"), await b.release("unknown.test")
        for _ in range(30):
            await a.see("b.test", GOOD)
        after = await a.see("a.test", WALL)
        return listed, released, list(await b.quarantined()), after

    listed, released, rest, after = with_two_workers(server_url, "three", work)
    assert listed == ["a.test", "b.test"]
    assert released == (True, False)
    assert rest == []
    assert not after.low  # what it gives now is what is usual
