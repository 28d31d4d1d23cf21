"""A user's program reads files that the crawl could not: what it prints is judged as a page is, and lies beside."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from pathlib import Path
from textwrap import wrap

import pytest

from crawler.config import from_mapping
from crawler.dataset.annotate import Annotations
from crawler.dataset.annotations.job import job_of
from crawler.dataset.annotations.joined import fields_of
from crawler.dataset.annotations.listed import annotations_in
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.program import Program
from crawler.dataset.query import query
from crawler.dataset.rewrite import records_in, rewrite
from crawler.dataset.select import Selection, condition_of, select
from crawler.dataset.transcribe import Transcription, Wanted, waits
from crawler.dataset.verify import verify
from crawler.dataset.versions import Cause
from crawler.document import Document, Drop, DropReason, Exchange
from crawler.problems import InputError
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import REJECTED, Place
from crawler.storage.files.records import record_of, rejection_of
from tests.stages.documents.pdf_maker import pdf_of, text_pages

pytest.importorskip("duckdb", reason="duckdb is optional")
pytest.importorskip("pypdfium2", reason="the program of the test reads PDFs")
HERE = Path(__file__).parent
PROGRAM = f"{sys.executable} {HERE / 'ocr_program.py'} {{file}}"
NOW = 1.8e9
PLACES = ("river", "hill", "harbour", "forest", "market", "bridge", "valley", "quarry")


def prose(place: str) -> str:
    """Our own."""
    return (
        f"The mill at the {place} was built by two brothers who had never seen a wheel turn before. They asked an old "
        f"carpenter of the {place} how deep the race should be, and he told them to wait until the spring, when the "
        f"water shows by itself where it wants to go. In the second year the stones were set, and the people of the "
        f"{place} brought their grain on carts that had to be mended more often than the roof of the mill itself. "
        f"What is left of it today is a wall, a gate without a door, and a story that every child there can tell."
    )


OTHER = (
    "Nobody in the village remembers who planted the pear tree behind the school. It bears every second year, and then "
    "so much that the children fill their bags, the teacher makes jam, and the birds still get their part of it. Last "
    "winter a storm broke its largest branch, and a joiner carved a bench from the wood, on which old women now wait "
    "for the bus to town and tell each other, as they always have, that the tree will not see another spring."
)
"""Our own."""


def file_of(text: str) -> bytes:
    return pdf_of(text_pages("\n".join(wrap(text, 90))))


class Scans:
    """A corpus with rejected PDFs, one for each text."""

    def __init__(self, folder: Path) -> None:
        self.config = from_mapping({"CORPUS_DIR": str(folder / "corpus"), "WORKER_ID": "w1"})
        self.place = Place(str(folder / "corpus"))
        self._corpus = Corpus(self.config)
        self._corpus.open()

    def add(self, name: str, text: str, reason: DropReason = DropReason.NEEDS_OCR, *, kept: str = "", **said) -> str:
        url = f"https://{(domain := said.pop('domain', 'alder.example'))}/{name}.pdf"
        body = file_of(text)
        exchange = Exchange(
            method="GET", url=url, status=200, request_headers=[], body=body, fetched_at=1_767_225_600.0,
            response_headers=[(b"Content-Type", b"application/pdf")],
        )  # fmt: skip
        at = self._corpus.archive(exchange)
        doc = Document(url, canonical_url=url, domain=domain, crawled_at="2026-01-01T00:00:00Z", document_kind="pdf",
                       content_hash="sha256:" + hashlib.sha256(body).hexdigest(), noai_checked=True, crawl_id="c",
                       warc_file=at.file, warc_record_id=at.record_id, warc_offset=at.offset)  # fmt: skip
        for field, value in said.items():
            setattr(doc, field, value)
        if kept:
            doc.text, doc.doc_id = kept, "sha256:" + hashlib.sha256(kept.encode()).hexdigest()
            self._corpus.keep(record_of(doc))
        else:
            self._corpus.reject(rejection_of(doc, Drop("documents", reason, "1 of 1 pages are pictures")))
        return url

    def close(self) -> None:
        self._corpus.close()

    def work(
        self, command: str = PROGRAM, *, wanted: Wanted | None = None, again: bool = False, **limits
    ) -> Transcription:
        program = Program(command, **{"seconds": 60.0} | limits)
        return Transcription(self.place, "ocr", program, wanted or Wanted(), self.config, NOW, again)

    def rows(self) -> dict[str, dict]:
        return {row["canonical_url"]: row for row in Annotations(self.place).read("ocr")}

    def ask(self, sql: str) -> list[tuple]:
        with query(self.place, sql) as (_, rows):
            return list(rows)


@pytest.fixture
def scans(tmp_path: Path) -> Scans:
    return Scans(tmp_path)


def test_the_text_of_a_scan_is_judged_and_lies_beside_the_rejected_page(scans):
    url = scans.add("river", prose("river"))
    scans.close()
    done = scans.work().run()
    (row,) = scans.rows().values()
    assert (done.rows, dict(done.reasons)) == (1, {"": 1})
    assert "every child there can tell" in row["text"] and row["language"] == "en" and row["quality_score"] > 0.4
    assert row["word_count"] > 90 and row["text_id"].startswith("sha256:") and row["seconds"] > 0
    (record,) = records_in(scans.place, (REJECTED,))
    assert record["reason"] == "needs_ocr" and (row["canonical_url"], row["doc_id"]) == (url, record["content_hash"])
    assert not verify(scans.place).damage and not verify(scans.place).orphaned
    joined = [(url, "en", "needs_ocr")]
    assert (
        scans.ask("SELECT canonical_url, ocr.language, reason FROM rejected WHERE ocr.text LIKE '%carpenter%'")
        == joined
    )
    assert scans.ask("SELECT canonical_url, ocr.language, reason FROM records WHERE ocr.reason = ''") == joined


def test_the_job_record_says_which_program_with_what_it_cost(scans):
    scans.add("river", prose("river"))
    scans.close()
    scans.work(version="toy 1.0", seconds=50.0, memory=2**33).run()
    ((job,),) = (each.jobs for each in annotations_in(scans.place.manifest()["files"]))
    assert job["code"] == "toy 1.0" and job["parameters"]["command"] == PROGRAM and job["kind"] == "text"
    assert (job["parameters"]["seconds"], job["parameters"]["memory"]) == (50.0, 2**33)
    assert job["parameters"]["config_digest"] == scans.config.digest and job["cost"]["program_seconds"] > 0


def test_without_a_given_version_the_files_that_the_command_names_are_hashed(scans):
    digest = hashlib.sha256((HERE / "ocr_program.py").read_bytes()).hexdigest()
    assert f"ocr_program.py sha256:{digest[:16]}" in Program(PROGRAM).version


def test_each_failure_has_a_name_and_takes_no_other_file_along(scans):
    asked = {"FAIL": "program_failed", "SLOW": "program_timeout", "LATIN": "program_not_utf8", "EMPTY": "program_empty"}
    urls = {scans.add(word.lower(), f"{word} {prose('hill')}"): reason for word, reason in asked.items()}
    good = scans.add("river", prose("river"))
    scans.close()
    began = time.monotonic()
    done = scans.work(seconds=4.0).run()
    assert time.monotonic() - began < 40
    assert {url: row["reason"] for url, row in scans.rows().items()} == urls | {good: ""}
    assert all(not row["text"] for url, row in scans.rows().items() if url != good)
    assert done.said == "no such language" and scans.rows()["https://alder.example/fail.pdf"]["detail"] == "exit code 1"


def test_a_program_that_wants_more_memory_than_it_may_have_gets_none(scans):
    url = scans.add("hungry", f"HUNGRY {prose('hill')}")
    scans.close()
    scans.work(memory=2**31).run()
    assert scans.rows()[url]["reason"] == "program_failed"


def test_a_second_call_starts_nothing_and_again_tries_only_what_failed(scans):
    scans.add("river", prose("river"))
    failed = scans.add("fail", f"FAIL {prose('hill')}")
    scans.close()
    first = scans.work().run()
    second = scans.work().run()
    assert (first.rows, second.rows, second.known, second.version) == (2, 0, 2, None)
    third = scans.work(again=True).run()
    assert (third.rows, third.known, list(scans.rows())[-1]) == (1, 1, failed) and len(scans.rows()) == 2
    assert scans.work(seconds=61.0).waiting() == 1  # other limits may help a file at which it failed
    assert scans.work(version="another").waiting() == 2


def test_withdrawn_pages_are_never_handed_over_and_their_rows_go(scans):
    gone = scans.add("birch", prose("hill"), domain="birch.example")
    left = scans.add("river", prose("river"))
    scans.close()
    scans.work().run()
    assert set(scans.rows()) == {gone, left}
    withdraw(scans.place, Wish("a letter", frozenset({"birch.example"}), refused=frozenset({"birch.example"})), now=NOW)
    assert set(scans.rows()) == {left} and not verify(scans.place).orphaned
    assert b"the hill how deep" not in b"".join(p.read_bytes() for p in Path(scans.place.url).rglob("*.parquet"))
    assert scans.work(version="another").waiting() == 1


def test_a_page_whose_withdrawal_was_cut_off_is_not_handed_over(scans, monkeypatch):
    scans.add("birch", prose("hill"), domain="birch.example")
    scans.close()
    monkeypatch.setattr("crawler.dataset.exclude.rewrite", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        withdraw(
            scans.place, Wish("a letter", frozenset({"birch.example"}), refused=frozenset({"birch.example"})), now=NOW
        )
    done = scans.work().run()
    assert done.rows == 0 and dict(done.left_out) == {"withdrawn": 1}


def test_a_text_that_was_withdrawn_from_another_page_stays_out(scans):
    scans.add("kept", prose("hill"), kept=prose("hill"), domain="birch.example")
    url = scans.add("copy", prose("hill"))
    scans.close()
    withdraw(scans.place, Wish("a letter", frozenset({"birch.example"}), reach="text"), now=NOW)
    scans.work().run()
    assert (scans.rows()[url]["reason"], scans.rows()[url]["text"]) == ("withdrawn", "")


def test_duplicates_of_kept_pages_and_of_other_scans_are_named(scans):
    page = scans.add("page", prose("hill"), kept=prose("hill"))
    copy, first, second = scans.add("a", prose("hill")), scans.add("b", OTHER), scans.add("c", OTHER)
    scans.close()
    done = scans.work().run()
    assert {url: row["dup_of"] for url, row in scans.rows().items()} == {copy: page, first: None, second: first}
    assert done.duplicates == 2


def test_personal_data_leaves_the_text_and_a_bad_text_has_its_reason(scans):
    private = scans.add("private", prose("hill") + " Write to anna.b@mill.example for more of it.")
    short = scans.add("short", "Ten words of a sign that somebody has scanned here.")
    scans.close()
    scans.work().run()
    assert "anna.b@" not in scans.rows()[private]["text"] and scans.rows()[private]["pii_span_count"] == 1
    assert scans.rows()[short]["reason"] == "too_short"


def test_only_files_with_the_reasons_and_kinds_that_were_asked_for_are_read(scans):
    scans.add("a", prose("hill"))
    garbled = scans.add("b", prose("river"), DropReason.GARBLED)
    scans.add("c", prose("market"), DropReason.OPTOUT)
    unread = scans.add("d", prose("bridge"), DropReason.GARBLED, noai_checked=False)
    scans.close()
    work = scans.work(wanted=Wanted(frozenset({"garbled"}), frozenset({"pdf"})))
    done = work.run()
    assert set(scans.rows()) == {garbled} and unread not in scans.rows()
    assert dict(done.left_out) == {"nobody could look whether the file itself says no": 1}
    assert scans.work(wanted=Wanted(frozenset({"garbled"}), frozenset({"epub"}))).waiting() == 0


def test_a_call_that_was_killed_goes_on_with_the_files_that_have_no_row(scans):
    first, second = scans.add("a", prose("river")), scans.add("b", f"DEADLY {prose('hill')}")
    scans.close()
    command = [sys.executable, "-m", "tests.dataset.transcribe_process", scans.place.url, PROGRAM]
    assert subprocess.run(command, capture_output=True, check=False).returncode == -9
    assert set(scans.rows()) == {first}
    assert scans.work().waiting() == 1
    assert scans.work(f"{PROGRAM} read").run().rows == 2  # as the program would have read it, had it not killed
    assert set(scans.rows()) == {first, second} and not verify(scans.place).orphaned


def test_a_row_goes_when_its_page_is_read_after_all(scans):
    url = scans.add("a", prose("river"))
    other = scans.add("b", prose("hill"))
    scans.close()
    scans.work().run()

    def decide(record):
        return record | {"content_hash": "sha256:other"} if record["url"] == url else record

    rewrite(scans.place, decide, Cause("test", "test", NOW), folders=(REJECTED,))
    assert set(scans.rows()) == {other} and not verify(scans.place).orphaned


def test_a_rewrite_of_the_kept_documents_leaves_the_rows_of_rejected_pages(scans):
    scans.add("page", prose("market"), kept=prose("market"))
    scans.add("a", prose("river"))
    scans.close()
    scans.work().run()
    rewrite(scans.place, lambda record: record | {"title": "new"}, Cause("test", "test", NOW))
    assert len(scans.rows()) == 1 and not verify(scans.place).orphaned


def test_a_condition_on_kept_documents_may_name_it(scans, tmp_path):
    scans.add("page", prose("market"), kept=prose("market"))
    scans.add("a", prose("river"))
    scans.close()
    scans.work().run()
    wanted = Selection(conditions=(condition_of("ocr.reason!=''", fields_of(scans.place)),))
    with pytest.raises(Exception, match="no document of 1 meets every condition"):
        select(scans.place, Place(str(tmp_path / "out")), wanted, max_bytes=10**6, now=NOW)


def test_several_programs_at_once_read_the_same(scans):
    urls = {scans.add(place, prose(place)) for place in PLACES}
    scans.close()
    work = scans.work()
    work.at_once = 3
    assert work.run().rows == len(urls) and set(scans.rows()) == urls


def test_another_annotation_of_that_name_is_found_before_a_program_starts(scans):
    page = scans.add("page", prose("market"), kept=prose("market"))
    scans.add("a", prose("river"))
    scans.close()
    (record,) = records_in(scans.place)
    job = job_of({"score": "double"}, {}, None, {}, now=NOW)
    Annotations(scans.place).write(
        "ocr", job, [{"canonical_url": page, "doc_id": record["doc_id"], "score": 1.0}], now=NOW
    )
    with pytest.raises(InputError, match="ocr has the columns score double"):
        scans.work("sleep 100 {file}").run()


def test_a_file_that_the_archive_has_no_more_is_counted_and_named(scans):
    url = scans.add("a", prose("river"))
    scans.close()
    next(Path(scans.place.url).glob("archive/*.warc.gz")).unlink()
    done = scans.work().run()
    assert done.rows == 0 and done.unread == [url]
    assert dict(done.left_out) == {"its file is not in the archive, or damaged there": 1}


def test_a_program_that_fails_at_everything_is_given_no_more(scans):
    for number in range(14):
        scans.add(f"f{number}", f"FAIL {number} {prose('hill')}")
    scans.close()
    done = scans.work().run()
    assert done.failing and done.rows == 10 and scans.work(again=True).waiting() == 14


@pytest.mark.parametrize("command", ["cat", "no-such-program {file}", "cat '{file}"])
def test_a_command_that_cannot_work_is_refused_before_anything_is_read(command):
    with pytest.raises(InputError, match="--command"):
        Program(command)


def test_rows_wait_for_a_tenth_of_the_time_that_a_call_has_taken_and_ten_minutes_at_most():
    assert [waits(taken) for taken in (0, 100, 1_000, 100_000)] == [30, 30, 100, 600]
