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

from bench.web.prose import prose
from crawler.config import ConfigError, from_mapping
from crawler.dataset.refused import Refusal, Refusals
from crawler.document import Document, Drop, DropReason
from crawler.documents.from_archive import document_from_archive
from crawler.server.embedded import EmbeddedServer
from crawler.spark import partition
from crawler.spark.duplicates import find_duplicates
from crawler.spark.inputs import ARCHIVED, OURS, THEIRS, Input
from crawler.spark.isolation import CrashError, isolated
from crawler.spark.job import configure
from crawler.spark.partition import Judged, Read, Refused, claim_of, finish, is_candidate, judge, judge_page
from crawler.stages.chain import Chain
from crawler.storage.archive.reader import ArchivedResponse, read_archive
from crawler.storage.files.records import encode, record_of
from tests.support.archives import EPOCH, exchange, html, two_archives, write
from tests.support.places import PROJECT

CONFIG = from_mapping({"PII_PERSON": "off", "WORKER_ID": "w"})


def read(archives, config=CONFIG, **more):
    return list(judge(config, [(n, Input(ARCHIVED, str(path))) for n, path in enumerate(archives)], **more))


def judged(archives, config=CONFIG, **more):
    return [item for item in read(archives, config, **more) if isinstance(item, Judged)]


def test_judging_an_archive_gives_the_records_of_the_chain(tmp_path):
    archives = two_archives(tmp_path)
    chain = Chain(CONFIG)
    documents = [chain.run(document_from_archive(r, CONFIG)) for path in archives for r in read_archive(str(path))]
    found = judged(archives)
    assert [finish(CONFIG, item).json for item in found if item.doc.verdict is None] == [
        encode(record_of(doc)) for doc in documents if doc.verdict is None
    ]
    assert [item.doc.verdict for item in found] == [doc.verdict for doc in documents]
    assert [item.place for item in found] == [(0, n) for n in range(9)] + [(1, n) for n in range(4)]


def test_a_page_that_refuses_in_its_headers_is_recorded_without_its_text(tmp_path):
    (item,) = judged([write(tmp_path / "a.warc.gz", [exchange("https://e.org/", html(1), X_Robots_Tag="noai")])])
    line = finish(CONFIG, item)
    record = orjson.loads(line.json)
    assert (line.kind, record["reason"]) == ("rejected", "optout")
    assert "text" not in record


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
    assert not is_candidate(Read("a.warc.gz"))
    assert [item.doc.url.rpartition("/")[2] for item in found if not is_candidate(item)] == [
        "refused-by-header",
        "refused-by-page",
        "thin",
        "picture",
    ]


def test_a_torn_archive_gives_what_is_whole_and_says_where_it_ends(tmp_path):
    path = write(tmp_path / "a.warc.gz", [exchange(f"https://e.org/{n}", html(n)) for n in range(2)])
    path.write_bytes(path.read_bytes()[:-100])
    *pages, last, said = read([path])
    assert [page.doc.verdict for page in pages] == [None, None]
    assert last.doc.verdict.reason is DropReason.BROKEN_RECORD
    assert (said.name, said.unread) == (str(path), "")


def test_a_missing_archive_is_reported_and_the_next_one_is_read(tmp_path):
    there = write(tmp_path / "b.warc.gz", [exchange("https://e.org/", html(1))])
    missing, page, said = read([tmp_path / "a.warc.gz", there])
    assert "a.warc.gz" in missing.unread and not said.unread
    assert page.place == (1, 0)


def test_an_archive_that_cannot_be_read_costs_itself_in_a_wacz_and_beside_it(tmp_path):
    there = write(tmp_path / "b.warc.gz", [exchange("https://e.org/1", html(1))])
    with zipfile.ZipFile(tmp_path / "site.wacz", "w") as wacz:
        wacz.writestr("archive/bad.warc.gz", b"<html>503</html>")
        wacz.write(there, "archive/good.warc.gz")
    (tmp_path / "bad.warc.gz").write_bytes(b"\x5d\x2a\x4d\x18")
    found = read([tmp_path / "bad.warc.gz", tmp_path / "site.wacz", tmp_path / "no.wacz", there])
    pages = [item for item in found if isinstance(item, Judged) and item.doc.verdict is None]
    assert [(item.place, item.doc.url) for item in pages] == [((1, 1), "https://e.org/1"), ((3, 0), "https://e.org/1")]
    whole = [item.unread for item in found if isinstance(item, Read) and item.unread]
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
    one, poison, two = (item.doc for item in judged([path], careful=lambda: True))
    assert poison.verdict == Drop("stages", DropReason.STAGE_CRASHED, "worker process ended: SIGKILL")
    assert (poison.done, poison.text, poison.html) == (done, "", b"")
    assert (one.verdict, two.verdict) == (None, None)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # the test runner has threads
def test_a_page_in_a_process_of_its_own_gets_the_same_record(tmp_path):
    archives = two_archives(tmp_path)
    careful = [finish(CONFIG, item) for item in judged(archives, careful=lambda: True)]
    assert careful == [finish(CONFIG, item) for item in judged(archives)]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # the test runner has threads
def test_a_fork_that_raises_is_a_crash_and_not_a_second_parent():
    parent = os.getpid()
    with pytest.raises(CrashError, match="exit code 1"):
        isolated(lambda: 1 // 0)
    assert os.getpid() == parent


def test_what_travels_between_processes_survives_pickling(tmp_path):
    found = read(two_archives(tmp_path)[:1])
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(CONFIG)) == CONFIG
    assert all(not item.doc.links and not item.doc.html for item in found if isinstance(item, Judged))


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


def test_the_documents_of_a_corpus_are_judged_again_as_from_their_archive(tmp_path):
    """A text that was redacted is measured as it stands, so its quality signals may differ."""
    first = [finish(CONFIG, item) for item in judged(two_archives(tmp_path))]
    shard = tmp_path / "kept.jsonl"
    shard.write_bytes(b"".join(line.json for line in first if line.kind == "shards"))
    for changed in ({}, {"QUALITY_MIN_SCORE": "0.97"}):
        config = from_mapping({"PII_PERSON": "off", "WORKER_ID": "w", **changed})
        archived = {
            (item.doc.warc_file, item.doc.warc_offset): item.doc for item in judged(two_archives(tmp_path), config)
        }
        again = [
            item.doc
            for item in judge(config, [(0, Input(OURS, str(shard), str(tmp_path)))])
            if isinstance(item, Judged)
        ]
        assert len(again) == sum(line.kind == "shards" for line in first) > 5
        for doc in again:
            expected = archived[doc.warc_file, doc.warc_offset]
            assert (doc.verdict is None) is (expected.verdict is None)
            assert doc.signature == expected.signature and doc.pii_spans == expected.pii_spans
            if doc.verdict is None and not doc.pii_spans:
                assert record_of(doc) == record_of(expected)


class _Said:
    """A broadcast variable."""

    def __init__(self, value: Refused) -> None:
        self.value = value


def theirs(path, *rows: object):
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return [(0, Input(THEIRS, str(path)))]


def test_documents_of_others_pass_every_stage_and_a_bad_one_costs_itself(tmp_path):
    text = "\n\n".join(prose("theirs", 260)) + "\n\nWrite to jane.roe@meadow.example today."
    rows = [{"url": "https://t.org/1", "content": text, "author": "Jo", "crawled_at": "2026-01-02T03:04:05Z"}]
    rows += [{"url": "https://t.org/2"}, {"url": "https://t.org/3", "content": 7}, {"content": text}, {"url": 5}, 6]
    files = theirs(tmp_path / "a.jsonl", *rows, {"url": "https://t.org/4", "content": "A text too short."})
    *found, said = judge(CONFIG, files, fields={"text": "content"})
    doc = found[0].doc
    assert doc.verdict is None and "jane.roe" not in doc.text and doc.pii_entity_types
    assert (doc.crawled_at, doc.author, doc.extractor, doc.robots_status) == (
        "2026-01-02T03:04:05Z", "Jo", "wet", "unknown",
    )  # fmt: skip
    assert (doc.warc_file, doc.warc_offset) == (str(tmp_path / "a.jsonl"), None)
    reasons = [item.doc.verdict.reason.value for item in found[1:]]
    assert reasons == ["broken_record"] * 5 + ["too_short"]
    assert "no 'content' (there is: url)" in found[1].doc.verdict.detail
    assert (said.name, said.unread, len(said.sha256)) == (str(tmp_path / "a.jsonl"), "", 64)


def test_a_file_of_documents_that_is_damaged_is_named_and_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(orjson.dumps({"url": "https://t.org/1", "text": "A text."}) + b"\n{")
    page, said = judge(CONFIG, [(0, Input(THEIRS, str(path)))])
    assert page.doc.url == "https://t.org/1"
    assert f"{path}:2: is not JSON" in said.unread


def test_what_a_corpus_refuses_or_let_go_is_rejected_without_its_text(tmp_path):
    text = "\n\n".join(prose("theirs", 260))
    rows = [
        {"url": f"https://t.org/{n}", "text": text, "crawled_at": "2026-01-02"} for n in ("no", "gone", "old", "in")
    ]
    refusals = Refusals(addresses={"t.org/no": Refusal("address", 3)}, passed={"t.org/gone": "2026-02-01"})
    refused = Refused(refusals, {"": Refusals(expired={"t.org/old": "2026-02-01"})})
    *found, _ = judge(CONFIG, theirs(tmp_path / "a.jsonl", *rows), refused=_Said(refused))
    *gone, kept = found
    assert {item.doc.verdict.reason for item in gone} == {DropReason.WITHDRAWN}
    assert [item.doc.verdict.detail.partition(" ")[0] for item in gone] == ["its", "a", "it"]
    assert not any("text" in orjson.loads(finish(CONFIG, item).json) for item in gone)
    assert not any(item.doc.html for item in gone)
    assert kept.doc.verdict is None
