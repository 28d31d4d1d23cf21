"""What an executor does with archives, without a cluster."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import zipfile

import orjson
import pytest

from crawler.config import ConfigError, from_mapping
from crawler.document import Document, Drop, DropReason
from crawler.documents.from_archive import document_from_archive
from crawler.server.embedded import EmbeddedServer
from crawler.spark import partition
from crawler.spark.duplicates import find_duplicates
from crawler.spark.isolation import CrashError, isolated
from crawler.spark.job import configure
from crawler.spark.partition import Judged, Unread, claim_of, finish, is_candidate, judge, judge_page
from crawler.stages.chain import Chain
from crawler.storage.archive.reader import ArchivedResponse, read_archive
from crawler.storage.files.records import encode, record_of
from tests.support.archives import EPOCH, exchange, html, two_archives, write
from tests.support.places import PROJECT

CONFIG = from_mapping({"PII_PERSON": "off", "WORKER_ID": "w"})


def judged(archives, config=CONFIG):
    return list(judge(config, [(number, str(path)) for number, path in enumerate(archives)]))


def test_judging_an_archive_gives_the_records_of_the_chain(tmp_path):
    archives = two_archives(tmp_path)
    chain = Chain(CONFIG)
    documents = [chain.run(document_from_archive(r, CONFIG)) for path in archives for r in read_archive(str(path))]
    found = judged(archives)
    assert [finish(CONFIG, item).json for item in found if item.doc.verdict is None] == [
        encode(record_of(doc)).rstrip(b"\n") for doc in documents if doc.verdict is None
    ]
    assert [item.doc.verdict for item in found] == [doc.verdict for doc in documents]
    assert [item.place for item in found] == [(0, n) for n in range(9)] + [(1, n) for n in range(4)]


def test_a_page_that_refuses_in_its_headers_is_recorded_without_its_text(tmp_path):
    (item,) = judged([write(tmp_path / "a.warc.gz", [exchange("https://e.org/", html(1), X_Robots_Tag="noai")])])
    line = finish(CONFIG, item)
    assert (line.kind, line.reason) == ("rejected", "optout/optout")
    assert "text" not in orjson.loads(line.json)


def test_the_first_copy_in_archive_order_is_kept_whenever_it_was_fetched(tmp_path):
    pages = [exchange("https://late.org/", html(1), seconds=900), exchange("https://early.org/", html(1), seconds=1)]
    found = judged([write(tmp_path / f"{n}.warc.gz", [page]) for n, page in enumerate(pages)])
    duplicates = find_duplicates(CONFIG, map(claim_of, found))
    assert list(duplicates) == [(1, 0)]
    record = orjson.loads(finish(CONFIG, found[1], duplicates[1, 0]).json)
    assert (record["reason"], record["dup_of"], record["dup_similarity"]) == (
        "exact_duplicate",
        "https://late.org/",
        1.0,
    )


def test_a_server_remembers_the_texts_of_an_earlier_job(tmp_path):
    with EmbeddedServer(tmp_path / "server") as url:
        config = from_mapping({"PII_PERSON": "off", "DEDUP_REDIS_URL": url})
        archives = two_archives(tmp_path)
        first, second = ([claim_of(i) for i in judged([path]) if is_candidate(i)] for path in archives)
        within = find_duplicates(config, first)
        assert find_duplicates(config, first) == within
        reasons = {
            place: duplicate.verdict.reason.value for place, duplicate in find_duplicates(config, second).items()
        }
    assert list(within) == [(0, 5)]
    assert reasons == {(0, 0): "exact_duplicate", (0, 1): "near_duplicate", (0, 3): "near_duplicate"}


def test_a_page_that_was_archived_twice_is_no_duplicate_of_itself(tmp_path):
    found = judged([write(tmp_path / "a.warc.gz", [exchange("https://e.org/", html(1), seconds=n) for n in (0, 60)])])
    assert find_duplicates(CONFIG, map(claim_of, found)) == {}


def test_only_documents_that_the_stages_keep_are_compared(tmp_path):
    found = judged(two_archives(tmp_path))
    assert not is_candidate(Unread("a.warc.gz", 0, "torn"))
    assert [item.doc.url.rpartition("/")[2] for item in found if not is_candidate(item)] == [
        "refused-by-header",
        "refused-by-page",
        "thin",
        "picture",
    ]


def test_a_torn_archive_gives_what_is_whole_and_says_where_it_ends(tmp_path):
    path = write(tmp_path / "a.warc.gz", [exchange(f"https://e.org/{n}", html(n)) for n in range(2)])
    path.write_bytes(path.read_bytes()[:-100])
    found = judged([path])
    assert [type(item) for item in found] == [Judged, Judged, Unread]
    assert found[-1].archive == str(path)
    assert not found[-1].whole


def test_a_missing_archive_is_reported_and_the_next_one_is_read(tmp_path):
    there = write(tmp_path / "b.warc.gz", [exchange("https://e.org/", html(1))])
    missing, page = judged([tmp_path / "a.warc.gz", there])
    assert missing.whole
    assert "a.warc.gz" in missing.what
    assert page.place == (1, 0)


def test_an_archive_that_cannot_be_read_costs_itself_in_a_wacz_and_beside_it(tmp_path):
    there = write(tmp_path / "b.warc.gz", [exchange("https://e.org/1", html(1))])
    with zipfile.ZipFile(tmp_path / "site.wacz", "w") as wacz:
        wacz.writestr("archive/bad.warc.gz", b"<html>503</html>")
        wacz.write(there, "archive/good.warc.gz")
    (tmp_path / "bad.warc.gz").write_bytes(b"\x5d\x2a\x4d\x18")
    found = judged([tmp_path / "bad.warc.gz", tmp_path / "site.wacz", tmp_path / "no.wacz", there])
    pages = [item for item in found if isinstance(item, Judged)]
    assert [(item.place, item.doc.url) for item in pages] == [((1, 0), "https://e.org/1"), ((3, 0), "https://e.org/1")]
    whole = [item.what for item in found if isinstance(item, Unread) and item.whole]
    for said, name in zip(whole, ("bad.warc.gz", "site.wacz!/archive/bad.warc.gz", "no.wacz"), strict=True):
        assert said.startswith(f"{tmp_path}/{name}: ")


class _Slow:
    """A chain that spins on one page as a stage would, and swallows what it can."""

    def __init__(self, spins: tuple[str, ...]) -> None:
        self.spins = spins

    def run(self, doc: Document, names: tuple[str, ...]) -> Document:
        doc.text = "text of a page that nobody finished judging"
        try:
            while names[-1] in self.spins:
                pass
        except Exception:
            pytest.fail("a stage could take the limit for an error of its own")
        doc.done.extend(names)
        doc.html = b""
        return doc


class _Waiting(_Slow):
    """A chain that uses no time of the processor, and longer than the limit of it."""

    def run(self, doc: Document, names: tuple[str, ...]) -> Document:
        time.sleep(1.0)
        return super().run(doc, names)


def test_time_that_a_page_spends_waiting_does_not_count(monkeypatch):
    monkeypatch.setattr(partition, "_chain", lambda config: _Waiting(()))
    monkeypatch.setattr(partition, "PATIENCE", 1000.0)
    config = from_mapping({"PII_PERSON": "off", "STAGE_TIMEOUT_SECONDS": "0.5"})
    response = ArchivedResponse("https://e.org/", "response", 200, [], html(1), EPOCH, "a.warc.gz", "id", 0)
    assert judge_page(config, response).verdict is None


def test_a_page_that_waits_for_ever_is_given_up_all_the_same(monkeypatch):
    monkeypatch.setattr(partition, "_chain", lambda config: _Stuck())
    monkeypatch.setattr(partition, "PATIENCE", 1.0)
    config = from_mapping({"PII_PERSON": "off", "STAGE_TIMEOUT_SECONDS": "0.1"})
    response = ArchivedResponse("https://e.org/", "response", 200, [], html(1), EPOCH, "a.warc.gz", "id", 0)
    doc = judge_page(config, response)
    assert doc.verdict is not None
    assert doc.verdict.reason is DropReason.STAGE_TIMEOUT


class _Stuck:
    """A chain that waits for what never comes."""

    def run(self, _doc: Document, _names: tuple[str, ...]) -> Document:
        threading.Event().wait()
        raise AssertionError("nobody set the event")


@pytest.mark.parametrize(("spins", "done"), [(("fingerprint",), ["parse", "optout"]), (("fingerprint", "optout"), [])])
def test_a_page_that_outlasts_the_limit_is_rejected_without_text(spins, done, monkeypatch):
    monkeypatch.setattr(partition, "_chain", lambda config: _Slow(spins))
    config = from_mapping({"PII_PERSON": "off", "STAGE_TIMEOUT_SECONDS": "0.1"})
    response = ArchivedResponse("https://e.org/", "response", 200, [], html(1), EPOCH, "a.warc.gz", "id", 0)
    doc = judge_page(config, response)
    assert doc.verdict == Drop("stages", DropReason.STAGE_TIMEOUT, "longer than 0.1 s of CPU time")
    assert (doc.done, doc.text, doc.html) == (done, "", b"")


class _Deadly:
    """A chain that dies of some pages, from the stage `at` on."""

    def __init__(self, at: str) -> None:
        self.at = at

    def run(self, doc: Document, names: tuple[str, ...]) -> Document:
        if doc.url.endswith("/poison") and self.at in names:
            os.kill(os.getpid(), signal.SIGKILL)
        doc.done.extend(names)
        doc.html = b""
        return doc


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # the test runner has threads
@pytest.mark.parametrize(("at", "done"), [("fingerprint", ["parse", "optout"]), ("parse", [])])
def test_after_a_crash_the_page_that_kills_costs_itself_alone(at, done, monkeypatch, tmp_path):
    monkeypatch.setattr(partition, "_chain", lambda config: _Deadly(at))
    pages = [exchange(f"https://e.org/{name}", html(name)) for name in ("one", "poison", "two")]
    path = write(tmp_path / "a.warc.gz", pages)
    one, poison, two = (item.doc for item in judge(CONFIG, [(0, str(path))], careful=lambda: True))
    assert poison.verdict == Drop("stages", DropReason.STAGE_CRASHED, "worker process ended: SIGKILL")
    assert (poison.done, poison.text, poison.html) == (done, "", b"")
    assert (one.verdict, two.verdict) == (None, None)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # the test runner has threads
def test_a_page_in_a_process_of_its_own_gets_the_same_record(tmp_path):
    archives = [(number, str(path)) for number, path in enumerate(two_archives(tmp_path))]
    careful = [finish(CONFIG, item) for item in judge(CONFIG, archives, careful=lambda: True)]
    assert careful == [finish(CONFIG, item) for item in judge(CONFIG, archives)]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # the test runner has threads
def test_a_fork_that_raises_is_a_crash_and_not_a_second_parent():
    parent = os.getpid()
    with pytest.raises(CrashError, match="exit code 1"):
        isolated(lambda: 1 // 0)
    assert os.getpid() == parent


def test_what_travels_between_processes_survives_pickling(tmp_path):
    found = judged(two_archives(tmp_path)[:1])
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(CONFIG)) == CONFIG
    assert all(not item.doc.links and not item.doc.html for item in found)


def test_an_executor_loads_neither_scrapy_nor_spark():
    code = (
        "import sys, crawler.spark.partition, crawler.spark.duplicates; from crawler.stages.chain import Chain;"
        "from crawler.config import from_mapping; Chain(from_mapping({'PII_PERSON': 'off'}));"
        "print([m for m in ('scrapy', 'twisted', 'pyspark') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_problem_with_the_settings_is_shown_at_once():
    with pytest.raises(ConfigError) as error:
        configure(["LANGUAGE_MIN_SCORE=7", "COLOUR=blue", "NEARDUP_BANDS", "PII_PERSON=sometimes"])
    text = str(error.value)
    assert all(name in text for name in ("LANGUAGE_MIN_SCORE", "COLOUR=blue", "NEARDUP_BANDS", "PII_PERSON"))


def test_wrong_settings_end_the_command_before_spark_starts(tmp_path):
    command = [sys.executable, "-m", "crawler.spark.job", "--archive", "x.warc.gz", "--output", str(tmp_path / "o")]
    command += ["--set", "QUALITY_MIN_SCORE=2"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: QUALITY_MIN_SCORE='2'")
    assert not (tmp_path / "o").exists()
