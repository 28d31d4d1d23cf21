"""The fault campaign sees what it is there to see, and one small run of it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import http.client
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard

from bench.faults import audit, campaign
from bench.faults.blows import LOSSES, Blow, Plan, draw, draw_troubles
from bench.faults.fleet import Worker
from bench.faults.troubles import (
    CLOCK,
    DESCRIPTORS,
    FULL,
    OF_THE_SERVER,
    PASSWORD,
    STANDSTILL,
    TROUBLES,
    TWIN,
    Happened,
    Troubles,
)
from bench.web.known_site import KEPT, SECRET, KnownSite, build, choose_texts, hosts_of, texts_needed
from bench.web.target import RESET, Answer, Visit, served
from crawler.config import from_mapping
from crawler.trouble import of_this_machine
from demo.outputs import CorpusRecords

SITE = KnownSite(
    answers={},
    seeds=("a",),
    fates={"a": KEPT, "b": "gone"},
    mirrors=(frozenset({"m1", "m2"}),),
    forbidden=frozenset({"http://127.0.0.9:1/private"}),
)


def corpus(kept: str, *rejected: tuple[str, str]) -> CorpusRecords:
    return CorpusRecords(
        [{"url": url, "canonical_url": url} for url in kept.split()],
        [{"url": url, "canonical_url": url, "reason": reason} for url, reason in rejected],
    )


WHOLE = corpus("a m2", ("b", "gone"), ("m1", "exact_duplicate"))


def test_a_whole_corpus_has_no_violation() -> None:
    assert audit.accounts(SITE, WHOLE) == []


@pytest.mark.parametrize(
    ("records", "complaint"),
    [
        (corpus("m2", ("b", "gone"), ("m1", "exact_duplicate")), "1 lost: a"),
        (corpus("a a m2", ("b", "gone"), ("m1", "exact_duplicate")), "1 more than once: a ['kept', 'kept']"),
        (corpus("a m2", ("b", "http_error"), ("m1", "exact_duplicate")), "1 wrong verdict: b http_error, not gone"),
        (corpus("a m2 x", ("b", "gone"), ("m1", "exact_duplicate")), "1 unknown: x"),
        (corpus("a m1 m2", ("b", "gone")), "mirrors ['m1', 'm2'] ended as ['kept', 'kept']"),
    ],
)
def test_each_way_to_lose_or_double_a_url_is_named(records: CorpusRecords, complaint: str) -> None:
    assert complaint in audit.accounts(SITE, records)


def test_a_document_that_is_called_a_copy_of_itself_or_of_nothing_is_named() -> None:
    own = {"url": "a", "canonical_url": "a", "reason": "exact_duplicate", "dup_of": "a"}
    nothing = {"url": "b", "canonical_url": "b", "reason": "near_duplicate", "dup_of": "z"}
    assert audit.duplicates(CorpusRecords([], [own, nothing])) == [
        "1 a duplicate of itself: a",
        "2 a duplicate of nothing that was kept: a of a, b of z",
    ]


def test_text_that_must_not_be_on_the_disk_is_found_in_packed_files(tmp_path: Path) -> None:
    for folder in audit.FOLDERS:
        (tmp_path / folder).mkdir()
    (tmp_path / "shards" / "x.jsonl.zst").write_bytes(zstandard.compress(b"fine") + zstandard.compress(SECRET.encode()))
    (tmp_path / "archive" / "x.warc.gz").write_bytes(gzip.compress(b"fine") + gzip.compress(SECRET.encode()))
    visits = [Visit("127.0.0.9", "/private", 0.0)]
    assert audit.silence(SITE, tmp_path, visits, 1) == [
        "1 asked for although disallowed: http://127.0.0.9:1/private",
        "2 text of an opted-out page in: archive/x.warc.gz, shards/x.jsonl.zst",
    ]


def test_requests_that_are_too_close_or_too_many_at_a_time_are_named() -> None:
    visits = [Visit("h", "/1", 0.0, end=0.5), Visit("h", "/2", 0.4, end=0.6), Visit("i", "/3", 0.41, end=0.42)]
    assert audit.politeness(visits, 0.3, 2) == []
    assert audit.politeness(visits, 0.45, 1) == [
        "h: /2 400 ms after /1, expected at least 450 ms",
        "h: 2 requests at a time, at most 1 allowed",
    ]


def test_what_the_log_itself_was_late_in_noting_is_not_held_against_anybody() -> None:
    visits = [Visit("h", "/1", 1.0, end=1.1, late=0.3), Visit("h", "/2", 1.2, end=1.3)]
    assert audit.politeness(visits, 0.45, 1) == []
    assert audit.politeness(visits, 0.55, 1) == ["h: /2 500 ms after /1, expected at least 550 ms"]


def test_after_a_restart_without_its_last_second_a_server_is_given_two() -> None:
    visits = [Visit("h", f"/{i}", at, end=at + 0.01) for i, at in enumerate((1.0, 1.1, 3.5, 3.6))]
    assert len(audit.politeness(visits, 0.3, 1)) == 2
    assert audit.politeness(visits, 0.3, 1, [0.9]) == ["h: /3 100 ms after /2, expected at least 300 ms"]


def test_a_busy_log_knows_that_it_is_late() -> None:
    busy, free = threading.Event(), threading.Event()

    def keep_busy() -> None:
        busy.set()
        free.wait(10)

    with (
        served(hosts_of(1, 91)) as target,
        contextlib.closing(http.client.HTTPConnection("127.0.0.91", target.port, timeout=10)) as client,
    ):
        target._loop.call_soon_threadsafe(keep_busy)
        assert busy.wait(10)
        client.request("GET", "/")
        time.sleep(0.2)  # so late will the server be
        free.set()
        client.getresponse().read()
        deadline = time.monotonic() + 60
        while target.log()[0].late < 0.2:  # its clock beats in another thread
            assert time.monotonic() < deadline, target.log()
            time.sleep(0.01)


def test_the_peers_losses_and_surplus_lines_are_counted_and_half_a_line_is_none() -> None:
    lines = ['{"url": "a"}\n', '{"url": "a"}\n', '{"url": "m1"}\n', '{"url": "m2"']
    assert audit.peer_losses(SITE, lines) == (1, 1)


def test_a_page_breaks_the_connection_as_often_as_it_says_and_the_log_knows(tmp_path: Path) -> None:
    with served(hosts_of(1, 90)) as target:
        target.sites = {"127.0.0.90": {"/": Answer(b"hello", first=(RESET, 503))}}
        answers = []
        for _ in range(3):
            client = http.client.HTTPConnection("127.0.0.90", target.port, timeout=10)
            try:
                client.request("GET", "/", headers={"User-Agent": "test"})
                answers.append(client.getresponse().status)
            except ConnectionError:
                answers.append(RESET)
            finally:
                client.close()
        assert target.wait_for(3, 10)
    assert answers == [RESET, 503, 200]
    assert [(visit.status, visit.agent) for visit in target.visits] == [(RESET, "test"), (503, "test"), (200, "test")]
    assert all(visit.end is not None and visit.end >= visit.start for visit in target.visits)


def test_a_plan_depends_on_its_seed_alone_and_kills_workers_and_the_server() -> None:
    plans = [draw(f"1/{number}", 300) for number in range(50)]
    assert plans == [draw(f"1/{number}", 300) for number in range(50)]
    assert {plan.workers for plan in plans} == {3, 4, 5, 6, 8}
    for plan in plans:
        assert {blow.server for blow in plan.blows} == {True, False}
        assert list(plan.blows) == sorted(plan.blows, key=lambda blow: blow.at)


def test_texts_of_the_known_site_are_kept_by_the_stages_and_different() -> None:
    needed = texts_needed(2, 3)
    texts = asyncio.run(choose_texts(needed, from_mapping(campaign.JUDGING)))
    assert len(set(texts)) == needed
    site = build({host: f"http://{host}:1" for host in hosts_of(2)}, 3, texts)
    assert len(site.pages) == needed + 1, "the mirror is one text on two pages"
    assert site.forbidden < site.urls


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="127.0.0.0/8 and /proc: needs Linux")
def test_a_small_run_with_two_killed_workers_and_a_killed_server_accounts_for_everything(tmp_path: Path) -> None:
    blows = (
        Blow(5, False, 0.0, True),  # in the middle of robots.txt and opt-out files
        Blow(18, True, away=0.3),
        Blow(30, False, 0.9),
    )
    made = campaign.prepare(2, 6, tmp_path)
    _, outcome = made.run("", plan=Plan(3, 0, blows))
    assert outcome.violations == []
    assert (outcome.worker_kills, outcome.server_kills) == (2, 1)
    assert outcome.kept == 23


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="127.0.0.0/8 and /proc: needs Linux")
@pytest.mark.parametrize(
    "planned",
    [((8, FULL), (14, STANDSTILL)), ((8, TWIN), (20, CLOCK)), ((10, PASSWORD), (25, DESCRIPTORS))],
    ids=lambda planned: "-".join(what for _, what in planned),
)
def test_a_small_run_of_troubles_kills_nobody_and_accounts_for_everything(tmp_path: Path, planned) -> None:
    blows = tuple(Blow(at, False, 0.3, trouble=what) for at, what in planned)
    _, outcome = campaign.prepare(2, 6, tmp_path).run("", plan=Plan(3, 0, blows), adversity=True)
    assert outcome.violations == []
    assert (outcome.worker_kills, outcome.losses, outcome.kept) == (0, [what for _, what in planned], 23)


SENTENCES = {
    TWIN: "/c: another live process writes as 'crawl-w0'; give each worker a WORKER_ID of its own, or none",
    DESCRIPTORS: f"/c/rejected/w0.part: {of_this_machine(OSError(errno.EMFILE, ''))}",
    PASSWORD: "frontier server at unix:///s refuses the password (Authentication required.): correct it in the "
    "address, then run the same command again",
    FULL: "the frontier's server at unix:///s runs, but its memory is full (OOM command not allowed): raise its "
    "maxmemory, then run the same command again",
}


def ended(folder: Path, name: str, said: str, code: int = 1) -> Worker:
    output = folder / f"{name}.log"
    output.write_text(said)
    return Worker(name, SimpleNamespace(pid=1, poll=lambda: code), output)


@pytest.mark.parametrize("what", SENTENCES)
def test_a_trouble_explains_its_own_sentence_alone_and_of_whom_it_happened_to(tmp_path: Path, what: str) -> None:
    """A page about passwords, a warning about memory, a traceback, another exit code: none is a trouble's doing."""
    troubles = Troubles("unix:///s", None, [Happened(what, "" if what in OF_THE_SERVER else "w0")])
    line = f"error: {SENTENCES[what]}\n"
    assert troubles.explain(ended(tmp_path, "w0", f"INFO: memory and password\n{line}"))
    assert troubles.explain(ended(tmp_path, "w1", line)) is (what in OF_THE_SERVER)
    for other in (
        ended(tmp_path, "w0", f"Traceback (most recent call last):\n{line}"),
        ended(tmp_path, "w0", f"{line}error: the corpus cannot be written\n"),
        ended(tmp_path, "w0", "error: no password, no memory, no file descriptor left\n"),
        ended(tmp_path, "w0", line.replace("error", "INFO")),
        ended(tmp_path, "w0", line, code=-9),
        *(ended(tmp_path, "w0", f"error: {said}\n") for of, said in SENTENCES.items() if of != what),
    ):
        assert not troubles.explain(other), other.output.read_text()


@pytest.mark.parametrize(
    ("said", "ends_well"),
    [
        ("", True),
        ("this run found nothing to do, and what an earlier one could not get is still missing; ", True),
        ("the corpus cannot be written; ", False),
    ],
)
def test_who_only_names_the_page_that_kills_has_ended_well_and_is_not_started_again(tmp_path, said, ends_well) -> None:
    run = campaign._Run(tmp_path, "", None, None, Plan(4, 0, (), lives="1"), "jsonl")
    died = (
        "1 page was given up: every worker that had such a page alone in hand died (`gristmill frontier …`):\n  /deadly"
    )
    worker = ended(tmp_path, "w0", f"error: {said}{died}\n")
    assert run._gave_up(worker) is ends_well
    assert not run._forgiven(worker)


def test_a_plan_of_troubles_has_four_kinds_of_them_and_no_death() -> None:
    plans = [draw_troubles(f"7/{n}", 300, TROUBLES) for n in range(20)]
    assert all(len({blow.trouble for blow in plan.blows}) == len(plan.blows) == 4 for plan in plans)
    assert {blow.trouble for plan in plans for blow in plan.blows} == set(TROUBLES)
    assert not any(blow.server or blow.term or blow.loss for plan in plans for blow in plan.blows)


def test_a_plan_with_losses_has_one_of_them_and_is_otherwise_the_same() -> None:
    without, drawn = draw("7/1", 300), draw("7/1", 300, losses="between")
    lost = [blow for blow in drawn.blows if blow.loss]
    assert (drawn.workers, drawn.stage_workers) == (without.workers, without.stage_workers)
    assert [blow for blow in drawn.blows if not blow.loss] == list(without.blows)
    assert len(lost) == 1
    assert 30 <= lost[0].at <= 270
    assert draw("7/1", 300, losses="living").blows == tuple(replace(b, living=bool(b.loss)) for b in drawn.blows)
    plans = [draw(f"7/{n}", 300, losses="between") for n in range(40)]
    assert {blow.loss for plan in plans for blow in plan.blows} == {"", *LOSSES}


@pytest.mark.parametrize("torn", [False, True])
def test_a_manifest_is_lost_whole_or_by_half(tmp_path: Path, torn: bool) -> None:
    path = tmp_path / "manifest.json"
    campaign.lose_manifest(path, torn=torn)  # none yet
    path.write_text('{"files": []}')
    campaign.lose_manifest(path, torn=torn)
    assert (path.read_text() if path.exists() else None) == ('{"file' if torn else None)


@pytest.mark.parametrize(
    ("loss", "living"), [("frontier", False), ("torn manifest", False), ("frontier", True), ("manifest", True)]
)
def test_a_run_that_loses_its_frontier_or_its_manifest_accounts_for_every_url(
    tmp_path: Path, loss: str, living: bool
) -> None:
    small = campaign.prepare(2, 6, tmp_path)
    plan = Plan(workers=2, stage_workers=0, blows=(Blow(14, False, loss=loss, living=living),))
    _, outcome = small.run("loss", plan=plan)
    assert outcome.violations == []
    assert outcome.losses[0] == loss
    assert outcome.kept > 0
