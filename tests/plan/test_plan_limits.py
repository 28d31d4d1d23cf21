"""The limits of a plan hold in a real crawl, over its runs; status says which one stopped it."""

from __future__ import annotations

import re
import shutil

import psutil
import pytest

from bench.plan.site import Town, plan_text
from crawler.config import from_mapping
from crawler.launch import _claim
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.plan.conftest import Desk, Mill, crawl_of
from tests.support.corpus_folder import Folder
from tests.support.serving import Gate


def pages(mill: Mill) -> int:
    return len([path for path in mill.paths() if path[1:].isdecimal()])


def test_a_limit_of_each_run_and_one_of_all_stop_real_crawls_and_the_status_names_them(desk: Desk) -> None:
    with Mill(60) as mill:
        limits = "limits: {run: {kept: 7}, in_all: {money: 16}}\n"
        desk.write(crawl_of(mill, COST_REQUEST="1", CONCURRENT_REQUESTS_PER_DOMAIN="4") + limits)
        assert desk.plan("run", "--run", "one").code == 0, desk.calls[-1].err
        assert "the limit run.kept:7 is reached" in desk.calls[-1].err
        (crawl,) = desk.facts("status")["crawls"]
        assert (crawl["limit"], crawl["seeds"][0]["state"]) == ("run.kept: 7", "stopped by run.kept: 7")
        first = len(mill.log)
        assert first < 16, "the limit of all runs was reached before"
        assert desk.plan("run", "--run", "two").code == 0, desk.calls[-1].err
        assert "the limit money:16 is reached" in desk.calls[-1].err
        assert 16 <= len(mill.log) <= 17
        said = desk.plan("status").out
        assert f"mill: spent money: {len(mill.log)}.0000\n" in said
        assert re.search(r"^mill: spent time: [0-9.]+ s$", said, re.MULTILINE), said
        assert re.search(r"^mill: spent bytes: [0-9.,]+ k?B$", said, re.MULTILINE), said
        (crawl,) = desk.facts("status")["crawls"]
        assert (crawl["limit"], crawl["spent"]["money"]) == ("in_all.money: 16", len(mill.log))
        assert [one["state"] for one in crawl["seeds"]] == ["stopped by in_all.money: 16"]
        shutil.rmtree(desk.folder / "corpus" / "frontier")
        assert desk.plan("run", "--run", "three").code == 0, desk.calls[-1].err
        assert len(mill.log) <= 17, "a frontier that was lost began to count at nothing"


def test_what_a_killed_run_without_limits_has_kept_counts_once_there_is_one_and_the_status_says_so(desk: Desk) -> None:
    with Mill(30) as mill:
        gate = mill.gate = Gate(9)
        desk.write(crawl_of(mill))
        first = desk.begin("plan", "run", "plan.yaml")
        journals = desk.folder / "corpus" / "shards"
        first.until(lambda: gate.standing and sum(path.stat().st_size for path in journals.glob("*.part")))
        crawl = psutil.Process(first.process.pid).children()[0]
        first.process.kill()
        first.end()
        crawl.kill()
        gate.open()
        said = desk.plan("status").out
        assert "mill: cut off: its process, or the run, was killed" in said
        assert re.search(r"^mill: The crawl was cut off: the worker \S+ was killed; .* is not counted.$", said, re.M)
        kept = desk.facts("status")["crawls"][0]["spent"]["kept"]
        assert 0 < kept < 30
        desk.write(crawl_of(mill) + f"limits: {{in_all: {{kept: {kept}}}}}\n")
        assert desk.plan("run").code == 0, desk.calls[-1].err
        assert f"the limit kept:{kept} is reached" in desk.calls[-1].err
        assert Place(str(desk.folder / "corpus")).manifest()["counts"]["kept"] == kept
        assert "cut off" not in desk.plan("status").out


def test_a_crawl_with_a_limit_does_not_begin_where_the_ledger_that_says_what_was_spent_has_gone(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    folder.filled(range(2))
    (folder.path / "manifest.d" / "crawl-w1.json").unlink()
    settings = {"CORPUS_DIR": str(folder.path)}
    _claim(from_mapping(settings))
    assert "crawl-w1.json: missing, with what its runs were and have spent" in caplog.text
    with pytest.raises(StorageError, match=r"crawl-w1.json: missing, .* `gristmill dataset repair"):
        _claim(from_mapping(settings | {"FRONTIER_BUDGET": "kept:5"}))


def test_a_limit_of_a_seed_stops_it_and_a_crawl_without_one_is_complete(desk: Desk, mill: Mill) -> None:
    desk.write(crawl_of(mill) + "limits: {seed: {fetched: 3}}\n")
    assert ": 1 crawl, 1 task: mill\n" in desk.plan("check").out
    done = desk.plan("run")
    assert (done.code, ": 1 task ran, the others were done\n" in done.out) == (0, True)
    (crawl,) = desk.facts("status")["crawls"]
    assert (pages(mill), [one["state"] for one in crawl["seeds"]]) == (3, ["stopped by seed.fetched: 3"])
    assert crawl["spent"]["fetched"] == 3, "no figure where no limit is counted on the server"
    desk.write(crawl_of(mill) + "limits: {seed: {fetched: 5}}\n")
    for operation in ("check", "diff"):
        assert "mill: seed.fetched was 3 and is 5 now" in desk.plan(operation).err
    (crawl,) = desk.facts("status")["crawls"]
    assert crawl["seeds"][0]["state"] == "stopped by seed.fetched: 3", "by a limit that no run has had yet"


def test_a_seed_keeps_no_more_than_it_may_over_its_runs_and_a_higher_limit_lets_it_go_on(desk: Desk) -> None:
    with Town(12) as town:
        seeds = f"seeds: [{town.home(0)}, {town.home(1)}]"

        def fetched() -> int:
            return sum(one.is_page for one in town.log)

        desk.write(plan_text(town, seeds, {"seed": {"kept": 5}}, CONCURRENT_REQUESTS_PER_DOMAIN=4))
        assert desk.plan("run").code == 0, desk.calls[-1].err
        assert "the limit seed.kept:5 is reached: its other URLs wait" in desk.calls[-1].err
        (crawl,) = desk.facts("status")["crawls"]
        assert [one["state"] for one in crawl["seeds"]] == ["stopped by seed.kept: 5"] * 2
        assert [one["spent"]["kept"] for one in crawl["seeds"]] == [5, 5]
        assert fetched() == 10, "no page was fetched in vain"
        limits = {"seed": {"kept": 8, "money": 30}}
        desk.write(plan_text(town, seeds, limits, CONCURRENT_REQUESTS_PER_DOMAIN=4, COST_REQUEST=1))
        (said,) = desk.facts("diff")["crawls"]
        assert (said["fetch"], said["by"]) == (6, "limits of seeds")
        assert desk.plan("run").code == 0, desk.calls[-1].err
        assert fetched() == 16
        desk.write(plan_text(town, seeds, {"run": {"fetched": 4}}, CONCURRENT_REQUESTS_PER_DOMAIN=4, COST_REQUEST=1))
        assert desk.plan("run").code == 0, desk.calls[-1].err
        assert 20 <= fetched() <= 21
        (crawl,) = desk.facts("status")["crawls"]
        told = sum(one["spent"]["fetched"] for one in crawl["seeds"])
        assert told == fetched(), "a run without limits of seeds was not counted"
        shutil.rmtree(desk.folder / "corpus" / "frontier")
        desk.write(plan_text(town, seeds, limits, CONCURRENT_REQUESTS_PER_DOMAIN=4, COST_REQUEST=1))
        before = fetched()
        assert desk.plan("run").code == 0, desk.calls[-1].err
        assert fetched() == before, "a frontier that was lost began to count at nothing"
