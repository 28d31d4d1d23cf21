"""What the archive says of pages that are gone, and in which order archives are read."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.dataset.verify import verify
from crawler.document import Document, Drop, DropReason
from crawler.documents.from_archive import compare_with_past, document_from_archive
from crawler.policy.evidence import Evidence, History, load_history, load_verdict, with_history, with_verdict
from crawler.recrawl.decay import Past
from crawler.storage.archive.erasure import erase_pages
from crawler.storage.archive.places import expand
from crawler.storage.archive.reader import ArchivedResponse, read_archive
from crawler.storage.archive.remote import begun, by_age
from crawler.storage.files.place import Place

CONFIG = from_mapping({"CORPUS_DIR": "x", "WORKER_ID": "w"})
MOVED = Drop("recrawl", DropReason.MOVED, "redirects to https://example.org/")
HISTORY = History([], "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", 2, b"0123456789", Past(0.5, 0.75, 4000).pack())
SEEN = Evidence("allowed", "ab", "2026-01-31T00:00:00Z", "line 1: Allow: /")
GONE = with_verdict(with_history(SEEN.dump(), HISTORY), MOVED, 301)


def made(folder, exchange, **settings) -> Path:
    """An archive with a page, the tombstone of another one, and a page."""
    corpus = folder.opened(**settings)
    corpus.archive(exchange(1))
    place = corpus.archive_tombstone("https://example.org/gone", "2026-02-01T00:00:00.123Z", GONE)
    corpus.archive(exchange(2))
    corpus.close()
    assert place.file.startswith("archive/") and place.record_id.startswith("<urn:uuid:")
    return next((folder.path / "archive").glob("*.warc.*"))


@pytest.mark.parametrize("settings", [{}, {"ARCHIVE_COMPRESSION": "zstd"}])
def test_a_tombstone_comes_back_as_the_verdict_of_the_crawl_with_all_it_knew(folder, exchange, settings):
    path = made(folder, exchange, **settings)
    pages = list(read_archive(str(path), revisits=True))
    assert [page.kind for page in pages] == ["response", "tombstone", "response"]
    assert [page.kind for page in read_archive(str(path))] == ["response", "response"]
    doc = document_from_archive(pages[1], CONFIG)
    assert (doc.verdict, doc.http_status, doc.url) == (MOVED, 301, "https://example.org/gone")
    assert (doc.crawled_at, doc.first_seen) == ("2026-02-01T00:00:00.123Z", "2026-01-01T00:00:00Z")
    assert (doc.last_changed, doc.change_count, doc.former_text) == ("2026-02-01T00:00:00Z", 2, b"0123456789")
    assert (doc.robots_status, doc.robots_sha256, doc.html) == ("allowed", "ab", b"")


def test_other_tools_find_nothing_wrong_with_it_and_the_corpus_verifies(folder, exchange):
    path = made(folder, exchange)
    command = [str(Path(sys.executable).with_name("warcio")), "check", "-v", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "fail" not in done.stdout, done.stdout + done.stderr
    assert verify(Place(str(folder.path))).damage == []
    assert b"/gone" not in next((folder.path / "archive").glob("*.cdxj")).read_bytes()


@pytest.mark.parametrize("settings", [{}, {"ARCHIVE_COMPRESSION": "zstd"}])
def test_a_withdrawn_page_loses_its_tombstone_too(folder, exchange, settings):
    path = made(folder, exchange, **settings)
    (entry,) = (e for e in Place(str(folder.path)).manifest()["files"] if e["kind"] == "archive")
    new = path.with_name(path.name.replace("000000", "000009"))
    found = erase_pages(Place(str(folder.path)), entry["path"], new, lambda url: "gone" in url, sha256=entry["sha256"])
    assert found is not None and found[0]["bytes"] == entry["bytes"]
    assert [page.url for page in read_archive(str(new), revisits=True)] == [
        "https://example.org/1",
        "https://example.org/2",
    ]


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"[]",
        b'{"verdict":1,"status":2}',
        b'{"verdict":["fetch","gone"],"status":404}',
        b'{"verdict":["fetch","no such reason","x"],"status":404}',
        b'{"verdict":["fetch","unchanged","says nothing of the page"],"status":304}',
        b'{"verdict":["fetch","gone",7],"status":404}',
        b'{"verdict":["fetch","gone","x"],"status":"404"}',
    ],
)
def test_a_tombstone_that_says_nothing_is_a_broken_record(blob):
    assert load_verdict(blob) is None
    page = ArchivedResponse("https://e.org/", "tombstone", 0, [], b"", 0.0, "x.warc.gz", "", 7, evidence=blob)
    verdict = document_from_archive(page, CONFIG).verdict
    assert verdict is not None and verdict.reason is DropReason.BROKEN_RECORD


def test_histories_from_before_tombstones_are_read_as_they_were():
    old = b'{"history":[["http://a.test/old"],"2026-01-01T00:00:00Z","2026-02-01T00:00:00Z",3]}'
    history = History(["http://a.test/old"], "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", 3)
    assert load_history(old) == history
    assert json.loads(with_history(b"", history)) == json.loads(old)
    assert load_history(with_history(b"", HISTORY)) == HISTORY
    assert load_history(b'{"history":[[],"","",0,"xy","00"]}') is None


@pytest.mark.parametrize(("past", "decayed"), [(Past(0.5, 0.75, 4000).pack(), True), (b"", False), (b"short", False)])
def test_a_page_is_compared_with_what_the_archive_says_it_was(past, decayed):
    doc = Document(url="https://e.org/", past=past, extraction_yield=0.01, char_count=90, quality_score=0.7)
    verdict = compare_with_past(doc, CONFIG).verdict
    assert (verdict is not None and verdict.reason is DropReason.DECAYED) == decayed


def archive(path: Path, date: str) -> str:
    """A file that begins like an archive of that date."""
    head = f"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: {date}\r\nContent-Length: 0\r\n\r\n\r\n\r\n".encode()
    path.write_bytes(gzip.compress(head) if path.suffix == ".gz" else head)
    return str(path)


def test_archives_in_a_folder_come_in_the_order_in_which_they_were_begun(tmp_path):
    second = archive(tmp_path / "crawl-host-100.warc.gz", "2026-02-01T00:00:00.500Z")
    first = archive(tmp_path / "crawl-host-99.warc", "2026-01-01T00:00:00Z")
    third = archive(tmp_path / "a.warc.gz", "2026-03-01T00:00:00Z")
    same = archive(tmp_path / "b.warc.gz", "2026-03-01T00:00:00Z")
    assert expand(str(tmp_path)) == expand(f"{tmp_path}/*.warc*") == [first, second, third, same]


def test_an_archive_that_says_no_date_comes_first_and_is_left_to_its_reader(tmp_path):
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    (tmp_path / "other.warc.gz").write_bytes(gzip.compress(b"no record at all"))
    dated = archive(tmp_path / "a.warc.gz", "2026-03-01T00:00:00Z")
    names = [str(tmp_path / name) for name in ("empty.warc.gz", "other.warc.gz")]
    assert by_age([dated, *names]) == [*names, dated]
    assert begun(str(tmp_path / "missing.warc.gz")) == ""
