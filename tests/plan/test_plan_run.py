"""`gristmill plan run` ends with the corpus of an undisturbed run, however often it is killed or started twice."""

from __future__ import annotations

import signal

import orjson
import psutil
import pytest

from crawler.storage.corpus.registry import Registry
from crawler.storage.files.place import Place
from tests.plan.conftest import Desk, Mill, crawl_of
from tests.support.serving import Gate

STEPS = """\
steps:
- dataset verify corpus
- name: release
  run: dataset export corpus --to jsonl.gz --out release-{run}
"""


def test_a_plan_runs_its_tasks_in_order_and_a_finished_run_is_not_done_twice(desk: Desk, mill: Mill) -> None:
    desk.write(crawl_of(mill) + STEPS)
    done = desk.plan("run", "--run", "one")
    assert done.code == 0, done.err
    assert (desk.folder / "release-one").is_dir()
    versions = orjson.loads(done.out.splitlines()[-1])
    assert versions.keys() == {"corpus", "release-one"}
    asked, again = len(mill.log), desk.facts("run", "--run", "one")
    assert (again["codes"], again["versions"], len(mill.log)) == ({}, versions, asked)
    status = desk.facts("status")
    assert (status["run"], status["finished"]) == ("one", True)
    assert [task["state"] for task in status["tasks"]] == ["done"] * 3


def test_a_gate_that_does_not_hold_stops_the_run_with_three_and_nothing_after_it_runs(desk: Desk, mill: Mill) -> None:
    (desk.folder / "gates.yaml").write_text("whole: {uniqueness: {min: 2}}\n")
    desk.write("gates: gates.yaml\n" + crawl_of(mill) + STEPS)
    done = desk.plan("run")
    assert done.code == 3, done.err
    assert "mill.gates ended with exit code 3: a gate does not hold" in done.err
    assert [task["state"] for task in desk.facts("status")["tasks"]] == ["done", "failed", "waiting", "waiting"]
    assert not list(desk.folder.glob("release-*"))


def test_a_second_run_beside_a_living_one_ends_with_one_or_waits(desk: Desk, mill: Mill) -> None:
    desk.write(crawl_of(mill) + STEPS)
    gate = mill.gate = Gate(1)
    first = desk.begin("plan", "run", "plan.yaml")
    first.until(lambda: gate.standing)
    refused = desk.plan("run")
    assert refused.code == 1
    assert "this plan is at work, in another process: give --wait" in refused.err
    waiting = desk.begin("plan", "run", "--wait", "--json", "plan.yaml")
    waiting.until(lambda: "this plan is at work: waiting for its end" in waiting.err)
    gate.open()
    assert first.end().code == 0
    found = orjson.loads(waiting.end().out)
    assert (waiting.code, found["codes"], found["run"]) == (0, {}, "1")
    assert len(mill.log) == len(set(mill.paths())), "a page was fetched twice"


def test_a_run_that_was_killed_waits_for_its_orphan_and_ends_as_an_undisturbed_one(desk: Desk, mill: Mill) -> None:
    desk.write(crawl_of(mill) + STEPS)
    gate = mill.gate = Gate(2)
    first = desk.begin("plan", "run", "plan.yaml")
    first.until(lambda: gate.standing)
    orphan = psutil.Process(first.process.pid).children()[0]
    first.process.kill()
    first.end()
    refused = desk.plan("run")
    assert (refused.code, "mill is at work" in refused.err) == (1, True), refused.err
    assert desk.facts("status")["tasks"][0]["state"] == "running"
    second = desk.begin("plan", "run", "--wait", "plan.yaml")
    second.until(lambda: "mill is at work: waiting" in second.err)
    assert orphan.is_running()
    gate.open()
    assert second.end().code == 0, second.err
    assert sorted(mill.paths()) == sorted([*(f"/{n}" for n in range(6)), *_control_files(mill)])
    assert desk.facts("status")["finished"]
    assert len(Registry(Place(str(desk.folder / "corpus"))).children()) == 1


def test_a_run_that_is_asked_to_end_is_not_done_and_goes_on_later(desk: Desk, mill: Mill) -> None:
    desk.write(crawl_of(mill) + STEPS)
    gate = mill.gate = Gate(2)
    first = desk.begin("plan", "run", "plan.yaml")
    first.until(lambda: gate.standing)
    first.process.send_signal(signal.SIGTERM)
    gate.open()
    assert first.end().code == 143, first.err
    assert desk.facts("status")["tasks"][0]["state"] == "failed"
    assert desk.plan("run").code == 0
    assert desk.facts("status")["finished"]


@pytest.mark.parametrize("whole", [True, False])
def test_what_a_killed_step_left_is_made_again_unless_it_stands_whole(desk: Desk, mill: Mill, whole: bool) -> None:
    desk.write(crawl_of(mill) + STEPS)
    assert desk.plan("run", "--run", "r").code == 0
    release = desk.folder / "release-r"
    mark = next(desk.folder.glob(".plan/*/runs/r/release.json"))
    begun = orjson.loads(mark.read_bytes()) | {"state": "begun", "code": None, "versions": {}}
    mark.write_bytes(orjson.dumps(begun))  # killed between the end of the command and its mark
    (mark.parent / "finished").unlink()
    before = {path: path.stat().st_mtime_ns for path in release.rglob("*") if path.is_file()}
    if not whole:
        (release / "export.json").unlink()
    said = desk.plan("status").out
    assert "release: cut off: its process, or the run, was killed; `gristmill plan run` goes on with it\n" in said
    done = desk.plan("run", "--run", "r")
    assert done.code == 0, done.err
    after = {path: path.stat().st_mtime_ns for path in release.rglob("*") if path.is_file()}
    assert (before == after) is whole
    assert (release / "export.json").exists()
    if whole:
        assert len(Registry(Place(str(desk.folder / "corpus"))).children()) == 1


def test_a_folder_that_this_run_has_not_made_is_left_alone(desk: Desk, mill: Mill) -> None:
    desk.write(crawl_of(mill) + STEPS)
    theirs = desk.folder / "release-r"
    theirs.mkdir()
    (theirs / "note.txt").write_text("mine")
    done = desk.plan("run", "--run", "r")
    assert done.code == 1
    assert "release would make release-r, which is there already" in done.err
    assert "or name the run otherwise (--run NAME)" in done.err
    assert (theirs / "note.txt").read_text() == "mine"


def test_a_task_alone_wants_those_before_it_done_in_the_run_of_that_name(desk: Desk, mill: Mill) -> None:
    desk.write(crawl_of(mill) + STEPS)
    early = desk.plan("run", "--run", "r", "--only", "release")
    assert (early.code, "release comes after dataset-verify, which is not done in run r" in early.err) == (
        1,
        True,
    )
    for task in ("mill", "dataset-verify", "release"):
        done = desk.plan("run", "--run", "r", "--wait", "--only", task)
        assert done.code == 0, done.err
    assert desk.facts("status")["finished"]


def test_a_mistyped_run_begins_none_and_has_no_status(desk: Desk) -> None:
    desk.write("name: mill\ncorpus: corpus\nseeds: [https://example.org/]\n" + STEPS)
    early = desk.plan("run", "--run", "nosuch", "--only", "release")
    assert (early.code, desk.facts("status")["run"]) == (1, None), early.err
    status = desk.plan("status", "--run", "foo")
    assert (status.code, "--run foo: there is no such run; none has begun" in status.err) == (1, True), status.err


def test_a_mark_that_cannot_be_read_is_told_and_not_taken_for_none(desk: Desk, mill: Mill) -> None:
    desk.write(crawl_of(mill))
    assert desk.plan("run", "--run", "r").code == 0
    mark = next(desk.folder.glob(".plan/*/runs/r/mill.json"))
    mark.write_bytes(b"{")
    (mark.parent / "finished").unlink()
    done = desk.plan("run", "--run", "r")
    assert (done.code, "mill.json: cannot be read" in done.err) == (1, True)


def _control_files(mill: Mill) -> list[str]:
    return [path for path in mill.paths() if not path[1:].isdecimal()]
