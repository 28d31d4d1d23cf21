"""Several corpora become one that is a corpus in every respect, or a sentence says why not."""

from __future__ import annotations

import gzip
import itertools
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.merge.corpus import merge_corpora
from crawler.dataset.page import archived_bytes, find_page
from crawler.dataset.refused import Refusals
from crawler.dataset.registry import behind
from crawler.dataset.registry.behind import corpora_behind
from crawler.dataset.repair import repair
from crawler.dataset.rewrite import read_files
from crawler.dataset.verify import verify
from crawler.dataset.withdrawals import log_lines, withdrawals
from crawler.document import Drop, DropReason
from crawler.observe.report.accounts import read as accounts_of
from crawler.observe.report.costs import Prices
from crawler.observe.report.summary import summarise
from crawler.statkeys import LEFT_ON_HOLD
from crawler.storage.corpus.version import manifest_hash, versions_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import PAGES, Place
from crawler.storage.files.records import holding_of, record_of, rejection_of
from crawler.storage.files.shards import read_records
from crawler.times import rfc3339
from tests.support.corpus_folder import Folder, document, exchange
from tests.support.places import PROJECT
from tests.support.three_domains import fill, secret

CONFIG = from_mapping({})


def merged(tmp_path: Path, *names: str, **how: Any) -> Place:
    target = Place(str(tmp_path / "out"))
    merge_corpora([Place(str(tmp_path / name)) for name in names], target, CONFIG, now=1.8e9, **how)
    return target


def records(place: Place, kind: str = "shards") -> list[dict[str, Any]]:
    return [record for entry in read_files(place, (kind,)) for record in read_records(place, entry["path"])]


def machine(folder: Path, pages: range, *, worker: str, at: int = 0, **settings: Any) -> None:
    """What one machine has crawled: each page kept with its archive, every third one rejected."""
    made = Folder(folder)
    made.ticks = itertools.count(1_767_225_600 + 100_000 * pages.start)
    corpus = made.opened(worker, **settings)
    for number in pages:
        place = corpus.archive(exchange(number, f"<p>page {number} of {worker}</p>".encode()))
        when = rfc3339(1_767_225_600 + 86_400 * at + number)
        doc = document(number, crawled_at=when, worker_id=worker, warc_file=place.file, warc_record_id=place.record_id,
                       warc_offset=place.offset)  # fmt: skip
        if number % 3:
            corpus.keep(record_of(doc))
        else:
            corpus.reject(rejection_of(doc, Drop("quality", DropReason.LOW_QUALITY, "0.1")))
    corpus.note({"downloader/response_count": len(pages)})
    corpus.close()


def test_two_machines_with_one_name_become_a_corpus_that_verifies_and_adds_up(tmp_path: Path) -> None:
    machine(tmp_path / "a", range(9), worker="w1")
    machine(tmp_path / "b", range(20, 29), worker="w1")
    before = {path: path.read_bytes() for name in "ab" for path in (tmp_path / name).rglob("*") if path.is_file()}
    target = merged(tmp_path, "a", "b")
    findings = verify(target)
    assert (findings.documents, findings.damage, findings.surplus, findings.superseded) == (18, [], [], [])
    assert all(path.read_bytes() == content for path, content in before.items() if "registry" not in path.parts)
    parts, whole = [summarise(str(tmp_path / name)) for name in "ab"], summarise(target.url)
    for name in ("kept", "rejected", "archived", "words", "fetched"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts) > 0, name
    assert (whole.standing, whole.state) == ("The merge is finished.", "finished")
    assert [made["worker_id"] for entry in read_files(target) for made in entry["made_by"]] == ["w1", "w1"]
    books = accounts_of(target, Prices.of(CONFIG.report), {}, reread=True)
    assert sum(account.counts["requests"] for account in books.groups["batch"]) == 18
    (version,) = versions_of(target).values()
    hashes = [manifest_hash(Place(str(tmp_path / name))) for name in "ab"]
    assert (version["operation"], [p["sha256"] for p in version["parents"]]) == ("dataset merge", hashes)
    assert [place.url for place in corpora_behind([target])] == [str(tmp_path / name) for name in "ab"]


def test_a_source_in_a_store_that_does_not_answer_is_told_and_the_others_are_asked(
    tmp_path, monkeypatch, caplog
) -> None:
    for name, first in (("a", 0), ("b", 20)):
        machine(tmp_path / name, range(first, first + 3), worker="w1")
    target, lost = merged(tmp_path, "a", "b"), str(tmp_path / "a")

    def is_there(place: Place) -> bool:
        if place.url == lost:
            raise StorageError(f"{lost}: no answer")
        return True

    monkeypatch.setattr(behind, "is_corpus", is_there)
    assert [place.url for place in corpora_behind([target])] == [str(tmp_path / "b")]
    assert f"was made of {lost}, which is not there: what it withdraws is unknown" in caplog.text


def test_each_record_leads_to_its_bytes_in_an_archive_that_came_along(tmp_path: Path) -> None:
    for name, first in (("a", 0), ("b", 20)):
        machine(tmp_path / name, range(first, first + 5), worker="w1")
    target = merged(tmp_path, "a", "b")
    for name in "ab":
        shutil.rmtree(tmp_path / name)
    for number in (1, 4, 22, 23):
        page = find_page(target, f"https://example.org/{number}", Refusals())
        assert f"page {number} of w1".encode() in archived_bytes(target, page.record)
    assert target.manifest()["runs"][-1]["merged_from"]["archives"] == 2


def test_archives_may_stay_where_they_are_and_are_named_by_hash(tmp_path: Path) -> None:
    for name, first in (("a", 0), ("b", 20)):
        machine(tmp_path / name, range(first, first + 5), worker="w1")
    target = merged(tmp_path, "a", "b", leave_archives=True)
    assert not read_files(target, ("archive",)) and not verify(target).damage
    said = {p: s["sha256"] for e in target.manifest()["files"] for p, s in e["archives"].items()}
    own = [e["sha256"] for n in "ab" for e in read_files(Place(str(tmp_path / n)), ("archive",))]
    assert sorted(said.values()) == sorted(own)
    assert target.manifest()["runs"][-1]["merged_from"]["elsewhere"] == 2


@pytest.mark.parametrize("order", list(itertools.permutations(("old", "new"))))
def test_of_one_page_the_later_fetch_stays_whatever_the_order(tmp_path: Path, order: tuple[str, str]) -> None:
    machine(tmp_path / "old", range(9), worker="one", at=1)
    machine(tmp_path / "new", range(4, 12), worker="two", at=2)
    target = merged(tmp_path, *order)
    found = {record["url"]: record["worker_id"] for kind in PAGES for record in records(target, kind)}
    assert found == {f"https://example.org/{n}": "one" if n < 4 else "two" for n in range(12)}
    said = target.manifest()["runs"][-1]["merged_from"]
    assert (said["read"], said["replaced"], said["several"]) == (17, 5, 5)
    assert "the later fetch of a page stays" in said["rule"]
    assert not verify(target).surplus


def test_a_verdict_stays_where_the_later_visit_said_nothing_of_the_page(tmp_path: Path) -> None:
    machine(tmp_path / "a", range(1, 3), worker="one", at=1)
    corpus = Folder(tmp_path / "b").opened("two")
    late = document(1, crawled_at="2026-02-01T00:00:00Z")
    corpus.reject(rejection_of(late, Drop("policy", DropReason.HOLD_ROBOTS_UNREACHABLE, "503")))
    corpus.close()
    target = merged(tmp_path, "a", "b")
    assert {record["url"] for record in records(target)} == {f"https://example.org/{n}" for n in (1, 2)}
    assert not records(target, "rejected")


def test_pages_found_unchanged_of_which_no_machine_has_the_text_are_counted(tmp_path: Path) -> None:
    """A machine was lost with its folder; another one asked its pages again, and got 304."""
    machine(tmp_path / "a", range(1, 3), worker="w1")
    survivor = Folder(tmp_path / "b").opened("w2")
    for number in (2, 30, 31):
        survivor.reject(rejection_of(document(number), Drop("fetch", DropReason.UNCHANGED, "304")))
    survivor.close()
    place = merged(tmp_path, "a", "b")
    assert place.manifest()["runs"][-1]["merged_from"]["unsaid"] == 2


def test_pages_that_wait_for_a_person_wait_in_the_merged_corpus(tmp_path: Path) -> None:
    machine(tmp_path / "a", range(1, 3), worker="one")
    corpus = Folder(tmp_path / "b").opened("two")
    corpus.hold(holding_of(document(7), Drop("pii", DropReason.HELD_PII, "names")), "pii")
    corpus.close()
    target = merged(tmp_path, "a", "b")
    assert [record["reason"] for record in records(target, "held")] == ["held_pii"]
    assert (summarise(target.url).kept, summarise(target.url).withheld) == (2, 1)
    assert not verify(target).damage


def test_what_one_source_has_withdrawn_is_gone_from_records_and_archives_of_all(tmp_path: Path) -> None:
    for name in "ab":
        fill(tmp_path / name, pages=3, WORKER_ID=name)
    withdraw(Place(str(tmp_path / "a")), Wish("by letter", domains=frozenset({"alder.example"})), now=1.8e9)
    target = merged(tmp_path, "a", "b")
    assert {record["domain"] for record in records(target)} == {"birch.example", "cedar.example"}
    phrases = [secret("alder.example", number).encode() for number in range(5)]
    raw = b"".join(line for line in _plain_bytes(target))
    assert not any(phrase in raw for phrase in phrases)
    assert secret("birch.example", 1).encode() in raw
    assert [(wish["number"], wish["reason"]) for wish in withdrawals(target)] == [(1, "by letter")]
    assert {line["number"] for line in log_lines(target) if line["kind"] == "page"} == {1}
    assert target.manifest()["runs"][-1]["merged_from"]["withdrawn"] > 0
    assert not verify(target).damage


def _plain_bytes(place: Place) -> list[bytes]:
    """Every response in the archives, and every record."""
    from warcio.archiveiterator import ArchiveIterator

    found = [orjson.dumps(record) for kind in PAGES for record in records(place, kind)]
    for entry in read_files(place, ("archive",)):
        with place.open(entry["path"]) as file:
            found += [record.content_stream().read() for record in ArchiveIterator(file)]
    return found


def test_what_each_machine_left_on_hold_is_on_hold_although_both_crawls_have_one_name(tmp_path: Path) -> None:
    for name, number, clock in (("a", 1, 1_767_225_600), ("b", 2, 1_767_300_000)):
        folder = Folder(tmp_path / name)
        folder.ticks = itertools.count(clock)
        corpus = folder.opened(name)
        corpus.keep(record_of(document(10 * number)))
        late = document(number, worker_id=name)
        corpus.reject(rejection_of(late, Drop("policy", DropReason.HOLD_ROBOTS_UNREACHABLE, "503")))
        corpus.note({LEFT_ON_HOLD: 1})
        corpus.close()
    target = merged(tmp_path, "a", "b")
    found = summarise(target.url)
    assert (found.kept, found.held, found.once_held, found.rejected) == (2, 2, 0, 0)
    hashes = [manifest_hash(Place(str(tmp_path / name))) for name in "ab"]
    assert [run.get("source") for run in target.manifest()["runs"]] == [*hashes, None]


# --- what is refused -------------------------------------------------------------------------------------------------
def test_a_source_that_is_being_written_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    machine(tmp_path / "a", range(3), worker="one")
    corpus = Folder(tmp_path / "b").opened("two")
    with pytest.raises(StorageError, match="b: a worker writes this corpus, or was killed"):
        merged(tmp_path, "a", "b")
    corpus.close()
    assert not (tmp_path / "out").exists()


def test_a_source_given_twice_or_as_a_copy_or_alone_is_refused(tmp_path: Path) -> None:
    machine(tmp_path / "a", range(3), worker="one")
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    with pytest.raises(StorageError, match="a is given twice: name each corpus once"):
        merged(tmp_path, "a", "a")
    with pytest.raises(StorageError, match=r"copy is the same version of the same corpus as .*a: name each"):
        merged(tmp_path, "a", "copy")
    with pytest.raises(StorageError, match="a merge needs two corpora at least"):
        merged(tmp_path, "a")


def test_a_source_of_a_newer_format_is_refused_with_the_way_out(tmp_path: Path) -> None:
    for name in "ab":
        machine(tmp_path / name, range(3), worker=name)
    path = tmp_path / "b" / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"crawler-corpus/1", b"crawler-corpus/2"))
    with pytest.raises(StorageError, match="use the version of the project that wrote it"):
        merged(tmp_path, "a", "b")
    assert not (tmp_path / "out").exists()


def test_a_damaged_archive_or_a_folder_in_use_leaves_nothing(tmp_path: Path) -> None:
    for name, first in (("a", 0), ("b", 20)):
        machine(tmp_path / name, range(first, first + 3), worker=name)
    (archive,) = (tmp_path / "b" / "archive").glob("*.warc.gz")
    content = archive.read_bytes()
    archive.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
    with pytest.raises(StorageError):
        merged(tmp_path, "a", "b")
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="expected an empty or new folder"):
        merged(tmp_path, "a", "b")
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def visits_that_found_an_opt_out(folder: Path, *numbers: int) -> None:
    made = Folder(folder)
    made.ticks = itertools.count(1_767_925_600)
    corpus = made.opened("w2")
    for number in numbers:
        refused = document(number, crawled_at=f"2026-02-01T00:00:0{number}Z", worker_id="w2", text="")
        corpus.reject(rejection_of(refused, Drop("optout", DropReason.OPTOUT, "tdmrep")))
    corpus.close()


def raw_pages(place: Place) -> bytes:
    return b"".join(gzip.decompress(path.read_bytes()) for path in (place.root / "archive").glob("*.warc.gz"))


def test_a_page_that_says_no_by_now_leaves_no_text_and_no_raw_page_behind(tmp_path: Path) -> None:
    machine(tmp_path / "a", range(5), worker="w1")
    visits_that_found_an_opt_out(tmp_path / "b", 1, 3)  # kept by the first machine, and rejected by it
    target = merged(tmp_path, "a", "b")
    findings = verify(target)
    assert (findings.damage, findings.surplus, findings.superseded) == ([], [], [])
    said = {record["url"].rpartition("/")[2]: record["reason"] for record in records(target, "rejected")}
    assert (said["1"], said["3"]) == ("optout", "optout")
    assert {record["url"].rpartition("/")[2] for record in records(target)} == {"2", "4"}
    assert [n for n in range(5) if f"page {n} of w1".encode() in raw_pages(target)] == [0, 2, 4]
    (line,) = withdrawals(target)
    assert (line["reason"], line["reach"]) == ("opted out", "nothing")
    pages = [(page["url"].rpartition("/")[2], page["was"]) for page in log_lines(target) if page["kind"] == "page"]
    assert sorted(pages) == [("1", "kept"), ("3", "rejected")]


def test_a_page_that_says_yes_again_is_kept_with_its_raw_page_whatever_was_withdrawn_before(tmp_path: Path) -> None:
    machine(tmp_path / "a", range(5), worker="w1")
    visits_that_found_an_opt_out(tmp_path / "b", 1, 2)
    once = merged(tmp_path, "a", "b")
    once.root.rename(tmp_path / "once")  # its log says that both pages opted out
    machine(tmp_path / "c", range(1, 3), worker="w3", at=400)  # after that merge
    target = merged(tmp_path, "a", "once", "c")
    assert verify(target).damage == []
    assert {record["url"].rpartition("/")[2]: record["worker_id"] for record in records(target)} == {
        "1": "w3", "2": "w3", "4": "w1",
    }  # fmt: skip
    assert [n for n in range(5) if f"page {n} of w3".encode() in raw_pages(target)] == [1, 2]


def test_a_page_whose_only_record_is_older_than_an_opt_out_goes_with_its_raw_page(tmp_path: Path) -> None:
    machine(tmp_path / "a", range(5), worker="w1")
    first = Wish("opted out", revoked=lambda record: record["url"].endswith("/1"), rule="x", reach="nothing")
    withdraw(Place(str(tmp_path / "a")), first, now=1.8e9)
    machine(tmp_path / "c", range(1, 2), worker="w3")  # fetched before that, by somebody who has not heard of it
    target = merged(tmp_path, "a", "c")
    assert {record["url"].rpartition("/")[2] for record in records(target)} == {"2", "4"}
    assert b"page 1 of" not in raw_pages(target)


def test_a_merge_that_was_killed_half_way_is_no_corpus_and_says_so(tmp_path: Path) -> None:
    for name, first in (("a", 0), ("b", 20)):
        machine(tmp_path / name, range(first, first + 5), worker="w1")
    code = (
        "import os, sys; from crawler.config import from_mapping; from crawler.dataset.merge import corpus;"
        "from crawler.storage.files.place import Place;"
        "corpus._Merge.stand = lambda *_: os.kill(os.getpid(), 9);"
        "corpus.merge_corpora([Place(sys.argv[1]), Place(sys.argv[2])], Place(sys.argv[3]), from_mapping({}),"
        "                     now=1.8e9)"
    )
    out = tmp_path / "out"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a", tmp_path / "b", out], cwd=PROJECT, check=False)
    assert done.returncode == -9 and any((out / "shards").iterdir())
    said = "`gristmill dataset merge` is at work or was cut off here: remove the folder, and run it again"
    for ask in (
        lambda: Place(str(out)).manifest(),
        lambda: repair(Place(str(out))),
        lambda: merged(tmp_path, "a", "b"),
    ):
        with pytest.raises(StorageError, match=said):
            ask()
    shutil.rmtree(out)
    assert verify(merged(tmp_path, "a", "b")).documents == 10
    assert not (out / "unfinished.txt").exists()


def test_a_crawl_that_has_just_begun_is_not_told_to_be_repaired(tmp_path: Path) -> None:
    place = Place(str(tmp_path / "begun"))
    place.claim()
    with pytest.raises(StorageError, match="no crawl has written here so far"):
        place.manifest()
