"""`gristmill dataset page`: one page by URL or doc_id, its record or its archived bytes."""

from __future__ import annotations

import subprocess
import sys

import orjson
import pytest

from crawler.dataset.refused import Refusal
from crawler.document import DropReason
from crawler.storage.files.records import record_of, rejection_of
from tests.commands.conftest import process_environment
from tests.support import warm
from tests.support.corpus_folder import document, exchange


def test_the_record_of_a_page_is_found_by_its_url_and_by_its_doc_id(scrapy, corpus):
    by_url = scrapy("dataset", "page", "corpus", "https://example.org/3")
    record = orjson.loads(by_url.out)
    assert record == next(r for r in corpus.records() if r["url"] == "https://example.org/3")
    assert (by_url.code, by_url.err) == (0, "kept: shards/crawl-w1-000000.jsonl.zst, line 4\n")
    assert scrapy("dataset", "page", "corpus", "HTTPS://EXAMPLE.org:443/3#part").out == by_url.out
    assert scrapy("dataset", "page", "corpus", record["doc_id"]).out == by_url.out


def test_with_raw_the_very_bytes_that_were_fetched_come_out(corpus):
    made = corpus.opened("w2")
    body = bytes(range(256)) * 3
    found = made.archive(exchange(70, body=body))
    made.archive(exchange(71, body=b"another"))
    place = {"warc_file": found.file, "warc_offset": found.offset, "warc_record_id": found.record_id}
    made.keep(record_of(document(70, **place)))
    made.close()
    done = scrapy_bytes(corpus, "https://example.org/70")
    assert done == (0, body, b"")


def scrapy_bytes(folder, name: str) -> tuple[int, bytes, bytes]:
    command = [sys.executable, "-m", "scrapy", "dataset", "page", str(folder.path), name, "--raw"]
    done = warm.run(command, env=process_environment(), capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_of_several_records_the_one_that_stands_is_shown(scrapy, corpus, rejected):
    later = corpus.opened("w2")
    later.reject(rejected(3, DropReason.GONE, "fetch", crawled_at="2026-02-01T00:00:00Z"))
    later.reject(rejected(3, DropReason.UNCHANGED, "fetch", crawled_at="2026-03-01T00:00:00Z"))
    later.close()
    shown = scrapy("dataset", "page", "corpus", "https://example.org/3")
    assert orjson.loads(shown.out)["reason"] == "gone"
    assert shown.err == "rejected (fetch/gone): rejected/crawl-w2-000000.jsonl.zst, line 1; 2 older records of it\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("https://example.org/33", "no record of https://example.org/33; expected the URL or the doc_id of a page of "
         "this corpus; did you mean https://example.org/3 or"),
        ("nonsense", "no record of nonsense; expected the URL or the doc_id"),
    ],
)  # fmt: skip
def test_a_page_that_is_not_there_is_named_with_those_that_are_like_it(scrapy, corpus, name, words):
    done = scrapy("dataset", "page", "corpus", name)
    assert (done.code, done.out) == (1, "")
    assert words in done.err


def test_why_there_are_no_bytes_is_said(scrapy, corpus, rejected):
    later = corpus.opened("w2")
    later.reject(rejected(9, DropReason.ROBOTS_DISALLOWED, "policy"))
    later.close()
    refused = scrapy("dataset", "page", "corpus", "https://example.org/9", "--raw")
    assert (refused.code, refused.out) == (1, "")
    assert "nothing of it is in an archive (robots_disallowed)" in refused.err

    (archive,) = (corpus.path / "archive").glob("*.warc.gz")
    content = archive.read_bytes()
    archive.write_bytes(content[:400])
    assert "restore the file from a copy" in scrapy("dataset", "page", "corpus", "https://example.org/3", "--raw").err
    archive.unlink()
    lost = scrapy("dataset", "page", "corpus", "https://example.org/3", "--raw")
    assert (lost.code, "Errno" in lost.err) == (1, False), lost.err
    archive.write_bytes(content)

    assert scrapy("dataset", "expire", "--older-than", "0.001", "corpus").code == 0
    gone = scrapy("dataset", "page", "corpus", "https://example.org/3", "--raw")
    assert gone.code == 1 and "expired" in gone.err


def test_no_corpus_is_said(scrapy, tmp_path):
    done = scrapy("dataset", "page", "nowhere", "https://example.org/")
    assert (done.code, done.err) == (1, "error: nowhere: there is no such folder; expected the CORPUS_DIR of a crawl\n")


def test_a_record_in_any_script_is_printed_where_the_locale_has_no_letters_for_it(corpus):
    made = corpus.opened("w2")
    made.keep(record_of(document(80, title="日本語 😀")))
    made.close()
    command = [sys.executable, "-m", "scrapy", "dataset", "page", str(corpus.path), "https://example.org/80"]
    environment = {**process_environment(), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert orjson.loads(done.stdout)["title"] == "日本語 😀"


# --- withdrawn, held -------------------------------------------------------------------------------------------------
def withdraw(scrapy, number: int, *more: str) -> None:
    url = f"https://example.org/{number}"
    done = scrapy("dataset", "exclude", "--url", url, "--reason", "request 17", "--yes", *more, "corpus")
    assert done.code == 0, done.err


def entries(corpus) -> list[dict]:
    lines = (corpus.path / "withdrawals.jsonl").read_bytes().splitlines()
    return [line for line in map(orjson.loads, lines) if line["kind"] == "withdrawal"]


def test_of_a_withdrawn_page_the_entry_is_named_by_number_day_and_reason(scrapy, corpus):
    withdraw(scrapy, 2, "--address-only")
    withdraw(scrapy, 3, "--address-only")
    done = scrapy("dataset", "page", "corpus", "https://example.org/3")
    day = entries(corpus)[1]["time"][:10]
    assert (done.code, done.out) == (1, "")
    assert f"was withdrawn by entry 2 of corpus/withdrawals.jsonl ({day}, request 17)" in done.err
    assert "entry 1" not in done.err and "did you mean" not in done.err
    assert f"entry 2 of corpus/withdrawals.jsonl ({day}, request 17)" in (
        scrapy("dataset", "page", "corpus", "id-3").err
    )


def test_of_a_withdrawal_that_was_taken_back_that_is_said(scrapy, corpus):
    withdraw(scrapy, 3, "--address-only")
    assert scrapy("dataset", "exclude", "--undo", "1", "--reason", "wrong page", "corpus").code == 0
    done = scrapy("dataset", "page", "corpus", "https://example.org/3")
    assert done.code == 1 and "went by entry 1 of" in done.err and "was taken back; no record of it is here" in done.err


def test_of_a_decision_that_a_withdrawal_leaves_the_entry_is_named_beside_its_reason(scrapy, corpus, rejected):
    later = corpus.opened("w2")
    later.reject(rejected(9, DropReason.TOO_SHORT, "quality", text="Some words.", text_allowed=True, done=["pii"]))
    later.close()
    withdraw(scrapy, 9)
    done = scrapy("dataset", "page", "corpus", "https://example.org/9")
    assert done.code == 0 and "rejected (quality/too_short)" in done.err
    assert "was withdrawn by entry 1 of corpus/withdrawals.jsonl" in done.err
    told = orjson.loads(scrapy("dataset", "page", "corpus", "https://example.org/9", "--json").out)
    assert "request 17" in told["withdrawn"]


def test_of_a_page_that_a_later_crawl_refused_the_entry_is_named_also_once_it_was_taken_back(scrapy, corpus):
    withdraw(scrapy, 3, "--address-only")
    later = corpus.opened("w2")
    later.reject(rejection_of(document(8), Refusal("text", 1).drop))
    later.close()
    done = scrapy("dataset", "page", "corpus", "https://example.org/8")
    assert done.code == 0 and "https://example.org/8 was withdrawn by entry 1 of" in done.err
    assert "request 17)" in done.err and "taken back" not in done.err
    assert scrapy("dataset", "exclude", "--undo", "1", "--reason", "wrong page", "corpus").code == 0
    assert "which was taken back since" in scrapy("dataset", "page", "corpus", "https://example.org/8").err


def test_in_a_subset_the_entry_of_its_source_is_named(scrapy, corpus):
    assert scrapy("dataset", "select", "--out", "subset", "corpus").code == 0
    withdraw(scrapy, 3, "--address-only")
    done = scrapy("dataset", "page", "subset", "https://example.org/3")
    assert done.code == 1 and "was withdrawn by entry 1 of " in done.err and "request 17" in done.err
    assert "what is left of it goes with `gristmill dataset exclude --again subset`" in done.err


@pytest.mark.parametrize(
    ("reason", "said"),
    [(DropReason.UNCHANGED, "unchanged (fetch/unchanged)"), (DropReason.HOLD_BARREN, "on hold (fetch/hold_barren)")],
)
def test_a_page_that_only_waits_or_is_as_it_was_is_not_called_rejected(scrapy, corpus, rejected, reason, said):
    later = corpus.opened("w2")
    later.reject(rejected(9, reason, "fetch"))
    later.close()
    shown = scrapy("dataset", "page", "corpus", "https://example.org/9")
    assert shown.code == 0 and shown.err.startswith(f"{said}: ")
