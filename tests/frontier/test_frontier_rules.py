"""The crawl, not the worker, owns delay, scope and what decides verdicts."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace

import pytest

from crawler.config import declared, from_mapping
from crawler.frontier import rules
from crawler.frontier.client import Frontier
from crawler.frontier.configured import limits_of
from crawler.frontier.member import FORMAT
from crawler.frontier.owners import BY_CONTENT, CAPS, FILES, LATEST, LAYOUT, ORDER, STRICTEST, WORKER_OWN
from crawler.frontier.rules import RulesDifferError, adopt_rules, follow_rules, join_rules
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
    "ADDRESS_DELAY": (2.0, 0.0),
    "FRONTIER_LATENCY_FACTOR": (2.0, 1.0),
    "FRONTIER_BREAKER_FAILURES": (3, 0),
    "FRONTIER_BREAKER_SECONDS": (60.0, 30.0),
    "FRONTIER_BREAKER_MAX_SECONDS": (7200.0, 3600.0),
    "FRONTIER_SLOWDOWN_MAX_SECONDS": (90.0, 60.0),
}


def test_every_setting_that_a_site_feels_has_a_stricter_value():
    assert STRICT.keys() == STRICTEST.keys() - {"ADDRESS_DELAYS_FILE"}  # below: its value is a file


def test_of_two_files_of_networks_the_longer_delay_of_each_network_holds(worker, tmp_path):
    (tmp_path / "one").write_text("10.0.0.0/8 2\n10.1.0.0/16 5")
    (tmp_path / "two").write_text("10.0.0.0/8 3")

    async def scenario(join):
        await join(ADDRESS_DELAYS_FILE=str(tmp_path / "one"))
        second = await join(ADDRESS_DELAYS_FILE=str(tmp_path / "two"))
        third = await join()
        assert second.limits.address_delays == third.limits.address_delays == {"10.0.0.0/8": 3, "10.1.0.0/16": 5}

    worker(scenario)


def test_of_a_delay_that_nobody_gave_and_that_follows_from_another_one_nothing_is_said(worker, caplog):
    async def scenario(join):
        await join(DOWNLOAD_DELAY=0.2)
        await join(DOWNLOAD_DELAY=0.05)

    worker(scenario)
    assert [record.getMessage().partition("=")[0] for record in caplog.records] == ["DOWNLOAD_DELAY"]


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
        ("FRONTIER_MAX_PAGES_PER_DOMAIN", 5, 0, "FRONTIER_MAX_PAGES_PER_DOMAIN: the crawl has 5, this worker 0"),
        ("DEPTH_LIMIT", 2, 0, "DEPTH_LIMIT: the crawl has 2, this worker 0"),
        ("FRONTIER_MAX_QUEUED_PER_DOMAIN", 128, 0, "FRONTIER_MAX_QUEUED_PER_DOMAIN: the crawl has 128, this worker 0"),
        ("ARCHIVE", True, False, "ARCHIVE: the crawl has True, this worker False"),
        ("ARCHIVE_COMPRESSION", "gzip", "zstd", "ARCHIVE_COMPRESSION: the crawl has gzip, this worker zstd"),
        ("SHARD_FORMAT", "jsonl.zst", "jsonl", "SHARD_FORMAT: the crawl has jsonl.zst, this worker jsonl"),
        ("REJECTED_TEXT", True, False, "REJECTED_TEXT: the crawl has True, this worker False"),
        ("RECRAWL_REMEMBER", True, False, "RECRAWL_REMEMBER: the crawl has True, this worker False"),
        (
            "DEDUP_REDIS_URL",
            None,
            "redis://me:secret@127.0.0.1:7000/1",
            "DEDUP_REDIS_URL: the crawl has the server of the frontier, this worker 127.0.0.1:7000/1",
        ),
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
    assert name in {*declared()} - {*WORKER_OWN}


def test_each_setting_belongs_to_the_crawl_or_has_a_reason_why_workers_may_differ():
    deciding = {name for name, field in declared().items() if field.metadata["digest"]}
    kinds = [{*STRICTEST}, {*LATEST}, {*LAYOUT}, {*FILES}, {*BY_CONTENT}, {*CAPS}, {*ORDER}, {*WORKER_OWN}]
    owners = {name: sum(name in kind for kind in kinds) for name in declared()}
    assert {name for name, n in owners.items() if n == 0} <= deciding, "say in crawler/frontier/owners.py whose it is"
    assert {name for name, n in owners.items() if n > 1} == set()
    assert {name for kind in kinds for name in kind} <= declared().keys(), "a setting that is no more"
    assert deciding & WORKER_OWN.keys() == {"RETRY_TIMES"}
    assert all(len(reason) > 12 for reason in WORKER_OWN.values())


def by_content(folder) -> dict[str, tuple[dict, dict]]:
    """Settings of two workers that differ in what is in a file, or in how it is compared, by name."""
    one, two = folder / "one.jsonl", folder / "two.jsonl"
    one.write_text(json.dumps({"text": "one two three four " * 9}) + "\n")
    two.write_text(json.dumps({"text": "five six seven eight " * 9}) + "\n")
    mine, yours = folder / "mine.yaml", folder / "yours.yaml"
    mine.write_text("mine:\n  based_on: prose\n")
    yours.write_text("mine:\n  based_on: technical\n")
    sets = {"EVAL_SETS": str(one)}
    return {
        "CLASSIFIERS": ({"CLASSIFIERS": f"good:{one}"}, {"CLASSIFIERS": f"good:{two}"}),
        "EVAL_SETS": (sets, {"EVAL_SETS": str(two)}),
        "QUALITY_PROFILES_FILE": ({"QUALITY_PROFILES_FILE": str(mine)}, {"QUALITY_PROFILES_FILE": str(yours)}),
        **{name: (sets, {**sets, name: 7}) for name in sorted(BY_CONTENT) if name.startswith("DECONTAMINATION_")},
    }


@pytest.mark.parametrize("name", sorted(BY_CONTENT))
def test_what_is_compared_by_content_is_compared_where_there_is_content(worker, name, tmp_path):
    mine, yours = by_content(tmp_path)[name]

    async def scenario(join):
        await join(**mine)
        with pytest.raises(RulesDifferError, match=r"CLASSIFIERS|EVAL_SETS|QUALITY_PROFILES_FILE"):
            await join(**yours)

    worker(scenario)


def test_the_password_of_the_duplicate_index_is_not_written_into_the_frontier(worker):
    async def scenario(join):
        first = await join(DEDUP_REDIS_URL="redis://me:secret@127.0.0.1:7000/1")
        assert "secret" not in await first.shared.rules_get()
        await join(DEDUP_REDIS_URL="redis://other:word@127.0.0.1:7000/1")

    worker(scenario)


def test_a_server_of_its_own_that_is_the_frontiers_is_no_other_index(worker, valkey_url):
    async def scenario(join):
        await join(REDIS_URL=valkey_url)
        await join(REDIS_URL=valkey_url, DEDUP_REDIS_URL=valkey_url)

    worker(scenario)


def test_a_worker_without_a_page_limit_keeps_to_the_crawls_and_a_later_one_may_raise_it(worker, caplog):
    async def scenario(join):
        await join(FRONTIER_MAX_PAGES=6)
        assert (await join()).limits.total_pages == 6
        assert "FRONTIER_MAX_PAGES=6 holds for this crawl, not 0: this worker was given none" in caplog.text
        assert (await join(FRONTIER_MAX_PAGES=9)).limits.total_pages == 9
        assert (await join()).limits.total_pages == 9
        assert (await join(CRAWL_RULES="replace")).limits.total_pages == 0

    worker(scenario)


def test_a_command_that_puts_seeds_keeps_to_the_caps_of_the_crawl(worker):
    async def scenario(join):
        other = await join(FRONTIER_MAX_PAGES=6, FRONTIER_MAX_PAGES_PER_DOMAIN=3, DEPTH_LIMIT=2)
        other.limits = replace(other.limits, total_pages=0, max_pages=0, depth=0)
        await adopt_rules(other)
        assert (other.limits.total_pages, other.limits.max_pages, other.limits.depth) == (6, 3, 2)

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
        assert await other.shared.rules_get() is None

    worker(scenario)


@pytest.mark.parametrize(
    "stored",
    ["no JSON", "[]", f'[{FORMAT}, {{"DOWNLOAD_DELAY": "1"}}]', f'[{FORMAT}, {{"POLITENESS_SCOPE": 3}}]', '["5", {}]'],
)
def test_what_somebody_else_wrote_there_is_no_rule(worker, stored):
    async def scenario(join):
        frontier = await join()
        await frontier.shared.rules_set(stored)
        with pytest.raises(FrontierError, match="cannot be read"):
            await adopt_rules(frontier)

    worker(scenario)
