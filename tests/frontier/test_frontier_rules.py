"""The crawl, not the worker, owns delay, scope and what decides verdicts."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import pytest

from crawler.config import from_mapping
from crawler.frontier import rules
from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.rules import LAYOUT, STRICTEST, RulesDifferError, adopt_rules, follow_rules, join_rules
from crawler.server.errors import FrontierError


@pytest.fixture
def worker(valkey_url, crawl_name):
    """`worker(**settings)` joins the crawl and answers its frontier; all of them are closed by `run`."""

    def run(scenario):
        async def main():
            opened = []

            async def join(**settings):
                config = from_mapping({"CRAWL_ID": crawl_name, **settings})
                frontier = Frontier(valkey_url, crawl_name, limits_of(config))
                opened.append(frontier)
                await frontier.open()
                await join_rules(frontier, config)
                return frontier

            try:
                await scenario(join)
            finally:
                for frontier in opened:
                    await frontier.close()

        asyncio.run(main())

    return run


STRICT = {
    "DOWNLOAD_DELAY": (2.0, 1.0),
    "CONCURRENT_REQUESTS_PER_DOMAIN": (1, 2),
    "FRONTIER_LATENCY_FACTOR": (2.0, 1.0),
    "FRONTIER_BREAKER_FAILURES": (3, 0),
    "FRONTIER_BREAKER_SECONDS": (60.0, 30.0),
    "FRONTIER_BREAKER_MAX_SECONDS": (7200.0, 3600.0),
    "FRONTIER_SLOWDOWN_MAX_SECONDS": (90.0, 60.0),
}


def test_every_setting_that_a_site_feels_has_a_stricter_value():
    assert STRICT.keys() == STRICTEST.keys()


@pytest.mark.parametrize("name", STRICT)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["strict first", "strict second"])
def test_the_strictest_value_of_all_workers_holds_whoever_came_first(worker, name, order, caplog):
    async def scenario(join):
        values = [STRICT[name][place] for place in order]
        await join(**{name: values[0]})
        second = await join(**{name: values[1]})
        assert getattr(second.limits, STRICTEST[name][0]) == STRICT[name][0]

    worker(scenario)
    said = [record.getMessage() for record in caplog.records]
    assert (f"{name}={STRICT[name][0]} holds for this crawl, not {STRICT[name][1]}" in " ".join(said)) is (
        order == (0, 1)
    )


@pytest.mark.parametrize(
    ("name", "one", "two", "said"),
    [
        ("OPTOUT_PROFILE", "strict", "minimal", "OPTOUT_PROFILE: the crawl has strict, this worker minimal"),
        ("LANGUAGES", "", "de,en", "LANGUAGES: the crawl has (nothing), this worker de,en"),
        ("NEARDUP_THRESHOLD", 0.8, 0.9, "NEARDUP_THRESHOLD: the crawl has 0.8, this worker 0.9"),
        ("POLITENESS_SCOPE", "domain", "host", "POLITENESS_SCOPE: the crawl has domain, this worker host"),
        ("FRONTIER_SHARDS", 1, 4, "FRONTIER_SHARDS: the crawl has 1, this worker 4"),
    ],
)
def test_a_worker_that_would_judge_or_queue_otherwise_is_refused_by_the_name_of_the_setting(
    worker, name, one, two, said
):
    async def scenario(join):
        await join(**{name: one})
        await join(**{name: one})
        with pytest.raises(RulesDifferError) as refused:
            await join(**{name: two})
        assert said in str(refused.value)
        assert "CRAWL_RULES=replace" in str(refused.value)

    worker(scenario)


def test_whoever_changes_the_rules_on_purpose_changes_them_for_all_that_come_after(worker):
    async def scenario(join):
        await join(LANGUAGES="de", DOWNLOAD_DELAY=5)
        changed = await join(LANGUAGES="en", DOWNLOAD_DELAY=2, CRAWL_RULES="replace")
        assert changed.limits.delay == 2.0
        assert (await join(LANGUAGES="en", DOWNLOAD_DELAY=1)).limits.delay == 2.0
        with pytest.raises(RulesDifferError, match="LANGUAGES: the crawl has en, this worker de"):
            await join(LANGUAGES="de")

    worker(scenario)


@pytest.mark.parametrize(("name", "value"), [("POLITENESS_SCOPE", "host"), ("FRONTIER_SHARDS", 4)])
def test_how_queues_are_laid_out_is_not_replaced_either(worker, name, value):
    async def scenario(join):
        await join()
        with pytest.raises(RulesDifferError, match=f"{name} of crawl .* cannot be changed"):
            await join(**{name: value, "CRAWL_RULES": "replace"})

    worker(scenario)
    assert name in LAYOUT


def test_settings_of_the_worker_alone_may_differ(worker):
    async def scenario(join):
        await join(WORKER_ID="one", CONCURRENT_REQUESTS=4, STAGE_WORKERS=1, RECRAWL=False, RETRY_TIMES=3)
        await join(WORKER_ID="two", CONCURRENT_REQUESTS=9, STAGE_WORKERS=2, RECRAWL=True, RETRY_TIMES=0)

    worker(scenario)


def test_a_worker_that_runs_follows_what_a_later_one_has_made_stricter(worker, monkeypatch, caplog):
    monkeypatch.setattr(rules, "FOLLOW_SECONDS", 0.02)

    async def scenario(join):
        first = await join(DOWNLOAD_DELAY=1, LANGUAGES="de")
        following = asyncio.ensure_future(follow_rules(first, from_mapping({"DOWNLOAD_DELAY": 1, "LANGUAGES": "de"})))
        await join(DOWNLOAD_DELAY=7, LANGUAGES="de")
        async with asyncio.timeout(20):
            while first.limits.delay != 7.0:
                await asyncio.sleep(0.01)
            await join(DOWNLOAD_DELAY=7, LANGUAGES="en", CRAWL_RULES="replace")
            while "start this worker again: LANGUAGES" not in caplog.text:
                await asyncio.sleep(0.01)
        following.cancel()

    with caplog.at_level(logging.WARNING):
        worker(scenario)
    assert caplog.text.count("start this worker again") == 1


def test_a_command_goes_by_the_rules_of_the_crawl_and_leaves_none_in_a_new_one(worker):
    async def scenario(join):
        other = await join(DOWNLOAD_DELAY=3, FRONTIER_SHARDS=2)
        other.limits = replace(other.limits, delay=1.0, shards=1)
        await adopt_rules(other)
        assert (other.limits.delay, other.limits.shards) == (3.0, 2)
        other.crawl += "-new"
        await adopt_rules(other)
        assert await other.rules_get() is None

    worker(scenario)


@pytest.mark.parametrize("stored", ["no JSON", "[]", '{"DOWNLOAD_DELAY": "1"}', '{"POLITENESS_SCOPE": 3}'])
def test_what_somebody_else_wrote_there_is_no_rule(worker, stored):
    async def scenario(join):
        frontier = await join()
        await frontier.rules_set(stored)
        with pytest.raises(FrontierError, match="cannot be read"):
            await adopt_rules(frontier)

    worker(scenario)
