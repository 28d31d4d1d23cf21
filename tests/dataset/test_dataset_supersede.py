"""What later visits replaced leaves with the next version; what only failed stays; what opted out is deleted."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.select import Selection, select
from crawler.dataset.supersede import (
    is_pending,
    pending,
    read_all_versions,
    read_latest,
    standing,
    supersede,
    supersede_doubled,
)
from crawler.dataset.verify import verify
from crawler.document import DropReason, Reason
from crawler.operations.verify import WORK
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from tests.support.noted import manifest_hash, noted
from tests.support.operations import problems_of
from tests.support.process import scrapy

NOW = 1_800_000_000.0
SECOND = "2026-02-01T00:00:00Z"


def again(kept, number, **values):
    text = f"The new text of page {number}. " * 5
    doc_id = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    return kept(number, **{"crawled_at": SECOND, "text": text, "doc_id": doc_id, "change_count": 1} | values)


@pytest.fixture
def crawled(folder, exchange):
    """Five kept pages, each with its raw page."""
    corpus = folder.opened()
    for number in range(5):
        place = corpus.archive(exchange(number, body=f"<p>raw page {number}</p>".encode()))
        corpus.keep(_record(number, place))
    corpus.close()
    return folder


def _record(number, place):
    from tests.support.corpus_folder import document, record_of

    doc = document(number, doc_id=f"sha256:{number:064d}")
    doc.warc_file, doc.warc_record_id, doc.warc_offset = place.file, place.record_id, place.offset
    return record_of(doc)


def second_run(folder, kept=(), rejected=(), **counters):
    corpus = folder.opened("w2")
    for record in kept:
        corpus.keep(record)
    for record in rejected:
        corpus.reject(record)
    corpus.note({f"recrawl/{name}": count for name, count in counters.items()})
    corpus.close()


def place_of(folder):
    return Place(str(folder.path))


def titles(records):
    return sorted(record["title"] for record in records)


def test_a_changed_page_is_there_once_and_its_older_record_stays_in_the_lineage(crawled, kept):
    second_run(crawled, kept=[again(kept, 1)], changed=1)
    version = manifest_hash(crawled.path)
    done = supersede(place_of(crawled), now=NOW)
    assert (done.records, done.withdrawn, done.rewritten.version) == (1, 0, 2)
    assert noted(crawled.path, version)["operation"] == "recrawl"
    assert titles(crawled.records()) == [f"Page {n}" for n in range(5)]
    (page,) = [record for record in crawled.records() if record["url"].endswith("/1")]
    assert page["crawled_at"] == SECOND
    assert titles(read_all_versions(place_of(crawled))) == sorted([*(f"Page {n}" for n in range(5)), "Page 1"])
    assert crawled.manifest()["lineage"][-1]["operation"] == "recrawl"
    found = verify(place_of(crawled))
    assert not found.damage and not found.surplus


@pytest.mark.parametrize(
    "reason", [DropReason.GONE, DropReason.MOVED, DropReason.DECAYED, DropReason.REDIRECTED, DropReason.NEAR_DUPLICATE]
)
def test_a_tombstone_takes_the_document_out(crawled, rejected, reason):
    second_run(crawled, rejected=[rejected(1, reason, "recrawl", crawled_at=SECOND)], gone=1)
    supersede(place_of(crawled), now=NOW)
    assert titles(crawled.records()) == ["Page 0", "Page 2", "Page 3", "Page 4"]
    assert [record["reason"] for record in crawled.records("rejected")] == [reason]


@pytest.mark.parametrize("reason", [reason for reason in Reason.known() if not reason.is_final])
def test_a_verdict_that_says_nothing_about_the_page_leaves_its_document(crawled, rejected, reason):
    second_run(crawled, rejected=[rejected(1, reason, "fetch", crawled_at=SECOND)], changed=1)
    assert supersede(place_of(crawled), now=NOW).records == 0
    assert len(crawled.records()) == 5
    assert not verify(place_of(crawled)).surplus


@pytest.mark.parametrize("reason", [reason for reason in Reason.known() if not reason.is_final])
def test_a_failed_visit_gives_way_to_a_later_verdict_and_what_was_left_open_stays(crawled, kept, rejected, reason):
    failed = [rejected(9, reason, "fetch", crawled_at=at) for at in ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")]
    second_run(crawled, kept=[kept(9, crawled_at=SECOND)], rejected=failed, changed=1)
    stays = reason.is_hold or reason is DropReason.UNCHANGED
    assert supersede(place_of(crawled), now=NOW).records == (0 if stays else 2)
    assert len(crawled.records("rejected")) == (2 if stays else 0)
    assert supersede(place_of(crawled), now=NOW + 1).records == 0


def test_of_failed_visits_alone_the_latest_one_stays(crawled, rejected):
    times = ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z")
    failed = [rejected(9, DropReason.HTTP_ERROR, "fetch", crawled_at=at) for at in times]
    second_run(crawled, rejected=failed, changed=1)
    assert supersede(place_of(crawled), now=NOW).records == 1
    assert [record["crawled_at"] for record in crawled.records("rejected")] == [times[0]]


def test_which_verdicts_are_final():
    weak = {reason.value for reason in Reason.known() if not reason.is_final and not reason.is_hold}
    assert weak == {
        *("browser_crashed", "browser_incomplete", "browser_timeout", "needs_browser"),
        *("document_cpu", "document_crash", "document_memory", "truncated"),
        "unchanged", "download_failed", "http_error", "too_many_redirects",
        "stage_timeout", "stage_crashed", "stage_error",
    }  # fmt: skip


def test_of_pages_that_several_archives_have_the_newest_version_stays_and_a_refusal_withdraws(crawled, kept, rejected):
    refusals = [rejected(n, DropReason.OPTOUT, "optout", crawled_at=SECOND) for n in (1, 9)]
    second_run(crawled, kept=[again(kept, 2)], rejected=refusals)
    done = supersede_doubled(place_of(crawled), now=NOW)
    assert (done.records, done.withdrawn) == (2, 1)
    assert [r["crawled_at"] for r in crawled.records() if r["url"] == kept(2)["url"]] == [SECOND]
    assert sorted(record["url"] for record in crawled.records()) == sorted(kept(n)["url"] for n in (0, 2, 3, 4))
    assert supersede_doubled(place_of(crawled), now=NOW).records == 0


def test_an_opt_out_before_the_page_was_kept_removes_nothing(crawled, rejected):
    second_run(crawled, rejected=[rejected(1, DropReason.OPTOUT, "optout", crawled_at="2020-01-01T00:00:00Z")])
    assert supersede_doubled(place_of(crawled), now=NOW).withdrawn == 0
    assert len(list(crawled.records())) == 5


def test_a_page_that_opted_out_is_deleted_with_its_raw_page_and_the_others_keep_theirs(crawled, kept, rejected):
    refusal = rejected(1, DropReason.OPTOUT, "optout", crawled_at=SECOND)
    second_run(crawled, kept=[again(kept, 2)], rejected=[refusal], changed=2)
    done = supersede(place_of(crawled), now=NOW)
    assert (done.withdrawn, done.records) == (1, 2)
    raw = b"".join(gzip.decompress(path.read_bytes()) for path in (crawled.path / "archive").glob("*.gz"))
    assert b"raw page 0" in raw and b"raw page 1" not in raw
    assert "Page 1" not in titles(read_all_versions(place_of(crawled)))
    assert titles(read_all_versions(place_of(crawled))).count("Page 2") == 2
    left = b"".join(path.read_bytes() for path in crawled.path.rglob("*.json*") if path.is_file())
    assert b"The text of page 1" not in left


def test_a_page_that_is_refused_again_and_again_is_withdrawn_once(crawled, rejected):
    second_run(crawled, rejected=[rejected(1, DropReason.OPTOUT, "optout", crawled_at=SECOND)], changed=1)
    supersede(place_of(crawled), now=NOW)
    assert supersede(place_of(crawled), now=NOW + 1).records == 0
    assert standing(place_of(crawled)).opted_out == set()


def test_a_page_that_comes_back_replaces_its_tombstone(crawled, kept, rejected):
    second_run(crawled, rejected=[rejected(1, DropReason.GONE, "fetch", crawled_at=SECOND)], gone=1)
    supersede(place_of(crawled), now=NOW)
    second_run(crawled, kept=[again(kept, 1, crawled_at="2026-03-01T00:00:00Z")], changed=1)
    supersede(place_of(crawled), now=NOW + 1)
    assert "Page 1" in titles(crawled.records())
    assert crawled.records("rejected") == []


def test_of_two_addresses_of_one_page_the_latest_record_stands(crawled, kept):
    other = again(kept, 9, canonical_url="https://example.org/1")
    second_run(crawled, kept=[other], changed=1)
    supersede(place_of(crawled), now=NOW)
    assert [r["url"] for r in crawled.records() if r["canonical_url"].endswith("/1")] == ["https://example.org/9"]


def test_nothing_is_rewritten_where_nothing_was_replaced(crawled, kept):
    second_run(crawled, kept=[kept(7, crawled_at=SECOND)], new=1)
    before = (crawled.path / "manifest.json").read_bytes()
    assert supersede(place_of(crawled), now=NOW).records == 0
    assert (crawled.path / "manifest.json").read_bytes() == before


def test_a_recrawl_that_found_something_is_pending_until_it_was_dealt_with(crawled, kept):
    assert not is_pending(crawled.manifest())
    second_run(crawled, kept=[again(kept, 1)], changed=1)
    assert is_pending(crawled.manifest())
    supersede(place_of(crawled), now=NOW)
    assert not is_pending(crawled.manifest())


@pytest.mark.parametrize("wrong", [-1e7, 0, 1e9], ids=["late", "right", "fast"])
def test_what_is_pending_does_not_depend_on_the_clock_of_the_machine_that_supersedes(crawled, kept, wrong):
    """Runs are dated by the clock of the frontier's server, versions by that of whoever calls the command."""
    second_run(crawled, kept=[again(kept, 1)], changed=1)
    supersede(place_of(crawled), now=next(crawled.ticks) + wrong)
    assert not is_pending(crawled.manifest())
    second_run(crawled, kept=[again(kept, 2, crawled_at="2026-03-01T00:00:00Z")], changed=1)
    assert is_pending(crawled.manifest())
    assert [r["crawled_at"] for r in read_latest(place_of(crawled)) if r["title"] == "Page 2"] == [
        "2026-03-01T00:00:00Z"
    ]
    supersede(place_of(crawled), now=next(crawled.ticks) + wrong)
    assert not is_pending(crawled.manifest())


def test_a_withdrawal_that_is_all_there_was_to_do_says_how_many_runs_were_read(crawled, kept, rejected):
    second_run(crawled, rejected=[rejected(1, DropReason.OPTOUT, "optout", crawled_at=SECOND)], changed=1)
    assert "supersede" in pending(place_of(crawled))
    done = supersede(place_of(crawled), now=NOW)
    assert (done.withdrawn, done.records) == (1, 1)
    assert [step.get("replacing_runs") for step in crawled.manifest()["lineage"]] == [1]
    assert pending(place_of(crawled)) == ""
    second_run(crawled, kept=[again(kept, 2, crawled_at="2026-03-01T00:00:00Z")], changed=1)
    assert is_pending(crawled.manifest())


def test_where_replaced_records_have_gone_in_another_way_a_version_says_that_they_were_looked_for(crawled, kept):
    second_run(crawled, kept=[again(kept, 1)], changed=1)
    wish = Wish("a letter", revoked=lambda record: record["url"].endswith("/1"), rule="letter", by="exclude")
    withdraw(place_of(crawled), wish, now=NOW)
    before = crawled.records()
    assert "supersede" in pending(place_of(crawled))
    done = scrapy("dataset", "supersede", crawled.path)
    assert done.stdout == "every record is the latest of its page, version 3\n", done.log
    assert pending(place_of(crawled)) == ""
    step = crawled.manifest()["lineage"][-1]
    assert (step["operation"], step["files"], step["replacing_runs"]) == ("recrawl", [], 1)
    assert crawled.records() == before
    found = verify(place_of(crawled))
    assert not found.damage and not found.surplus and not found.beside.strangers
    assert scrapy("dataset", "supersede", crawled.path).stdout == "every record is the latest of its page\n"
    second_run(crawled, kept=[again(kept, 2, crawled_at="2026-03-01T00:00:00Z")], changed=1)
    assert supersede(place_of(crawled), now=NOW).rewritten.version == 4


def test_a_withdrawal_that_leaves_replaced_records_does_not_say_that_they_are_dealt_with(crawled, kept, rejected):
    refusal = rejected(1, DropReason.OPTOUT, "optout", crawled_at=SECOND)
    second_run(crawled, kept=[again(kept, 2)], rejected=[refusal], changed=2)
    supersede(place_of(crawled), now=NOW)
    withdrawal, version = crawled.manifest()["lineage"]
    assert "replacing_runs" not in withdrawal, "a crash between the two leaves records to take out"
    assert (version["operation"], version["replacing_runs"]) == ("recrawl", 1)
    assert not is_pending(crawled.manifest())


def test_a_run_that_ends_while_the_records_are_read_stays_to_be_looked_at(crawled, kept, monkeypatch):
    second_run(crawled, kept=[again(kept, 1)], changed=1)

    def read_and_overtaken(place):
        found = standing(place)
        second_run(crawled, kept=[again(kept, 2, crawled_at="2026-03-01T00:00:00Z")], changed=1)
        return found

    monkeypatch.setattr("crawler.dataset.supersede.standing", read_and_overtaken)
    supersede(place_of(crawled), now=NOW)
    assert is_pending(crawled.manifest())
    monkeypatch.undo()
    supersede(place_of(crawled), now=NOW)
    assert not is_pending(crawled.manifest())


def test_a_version_of_an_older_release_is_compared_by_its_time(crawled, kept):
    second_run(crawled, kept=[again(kept, 1)], changed=1)
    supersede(place_of(crawled), now=NOW)
    manifest = crawled.manifest()
    del manifest["lineage"][0]["replacing_runs"]
    assert not is_pending(manifest)
    manifest["lineage"][0]["time"] = "2020-01-01T00:00:00Z"
    assert is_pending(manifest)


def test_readers_take_the_latest_record_also_before_the_next_version(crawled, kept, tmp_path):
    second_run(crawled, kept=[again(kept, 1)], changed=1)
    assert len(crawled.records()) == 6
    assert [r["crawled_at"] for r in read_latest(place_of(crawled)) if r["title"] == "Page 1"] == [SECOND]
    done = select(place_of(crawled), Place(str(tmp_path / "a")), Selection(), max_bytes=10_000, now=NOW)
    assert done["selected_from"]["selected"] == 5
    done = select(
        place_of(crawled), Place(str(tmp_path / "b")), Selection(), max_bytes=10_000, now=NOW, all_versions=True
    )
    assert done["selected_from"]["selected"] == 6


def test_while_a_worker_is_at_work_nothing_is_taken_out(crawled, kept):
    second_run(crawled, kept=[again(kept, 1)], changed=1)
    busy = crawled.opened("w3")
    with pytest.raises(StorageError, match="at work"):
        supersede(place_of(crawled), now=NOW)
    busy.close()
    assert supersede(place_of(crawled), now=NOW).records == 1


def test_a_fix_leaves_a_page_that_opted_out_to_the_operation_that_withdraws_it(crawled, rejected):
    second_run(crawled, rejected=[rejected(1, DropReason.OPTOUT, "optout", crawled_at=SECOND)], changed=1)
    before = sorted(path for path in crawled.path.rglob("*") if path.is_file())
    (problem,) = problems_of(WORK, "--fix", crawled.path)
    assert "1 page opted out at a later visit, and text and raw page are still there" in problem
    assert f"first run `gristmill dataset supersede {crawled.path}`" in problem
    assert before == sorted(path for path in crawled.path.rglob("*") if path.is_file())
    assert supersede(place_of(crawled), now=NOW).withdrawn == 1
    assert problems_of(WORK, "--fix", crawled.path) == []


def test_who_counts_every_record_is_told_of_those_that_may_have_been_replaced(crawled, kept):
    assert not pending(place_of(crawled))
    second_run(crawled, kept=[again(kept, 1)], changed=1)
    assert f"`gristmill dataset supersede {crawled.path}`" in pending(place_of(crawled))
    reported = scrapy("report", crawled.path)
    assert reported.returncode == 0
    assert f"`gristmill dataset supersede {crawled.path}`" in reported.stderr
    supersede(place_of(crawled), now=NOW)
    assert not pending(place_of(crawled))
