"""A page is its canonical URL: archives, replays and crawls that have it in common leave one record of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from itertools import permutations

import pytest

from tests.crawl.test_crawl_replay import slowed, wait_for
from tests.support.foreign import Writer, page
from tests.support.places import PROJECT
from tests.support.process import scrapy

JUNE, JULY, AUGUST = (f"2026-0{month}-01T00:00:00Z" for month in (6, 7, 8))
SPELT = "HTTP://A.test:80/x%7Ey?b=2&a=1&utm_source=mail#top"
NAME = "http://a.test/x~y?a=1&b=2"
BY_WARCIO = """
import io, sys
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
from tests.support.foreign import page
with open(sys.argv[1], "wb") as file:
    writer = WARCWriter(file, gzip=True)
    for number, when in ((1, "2026-06-01T00:00:00Z"), (2, "2026-06-01T00:00:00Z"), (1, "2026-07-01T00:00:00Z")):
        body = page(number)
        head = StatusAndHeaders("200 OK", [("Content-Length", str(len(body)))], protocol="HTTP/1.0")
        writer.write_record(writer.create_warc_record(f"http://b.test:80/{number}", "response", io.BytesIO(body),
                            http_headers=head, warc_headers_dict={"WARC-Date": when}))
    writer.write_record(writer.create_revisit_record("http://b.test/2", "sha1:AAAA", "http://b.test/2",
                        "2026-06-01T00:00:00Z", warc_headers_dict={"WARC-Date": "2026-07-01T00:00:00Z"}))
"""


def everything(crawl) -> Counter[str]:
    """How many records each page has."""
    return Counter(str(record["canonical_url"]) for kind in ("shards", "rejected") for record in crawl.records(kind))


def is_right(crawl) -> None:
    done = scrapy("dataset", "verify", crawl.folder)
    assert done.returncode == 0 and "each page exactly once" in done.stdout, done.stdout + done.stderr


def replay(crawl, place: object, **settings: object) -> str:
    done = crawl.run({"archive": str(place)}, spider="replay", PROGRESS="on", **settings)
    assert done.returncode == 0, done.stderr
    return str(done.stdout + done.stderr)


def capture(url: str, seed: object, when: str, **fields: str) -> Writer:
    return Writer().add(url, page(seed), warc={"WARC-Date": when, **fields})


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_of_a_page_in_three_archives_the_newest_capture_stays_in_whatever_order_they_are_read(crawl, tmp_path, order):
    captures = [("june", JUNE), ("july", JULY), ("august", AUGUST)]
    paths = [capture(NAME, *one).save(tmp_path / f"{one[0]}.warc.gz") for one in captures]
    (tmp_path / "list.txt").write_text("\n".join(str(paths[n]) for n in order))
    said = replay(crawl, tmp_path / "list.txt")
    (record,) = crawl.records()
    assert (record["url"], record["title"]) == (NAME, "Page august")
    assert everything(crawl) == {NAME: 1} and "1 kept" in said
    is_right(crawl)


def test_one_capture_in_two_archives_is_one_record(crawl, tmp_path):
    one = capture(NAME, 1, JUNE)
    for name in ("a", "b"):
        one.save(tmp_path / "same" / f"{name}.warc.gz")
    replay(crawl, tmp_path / "same")
    assert everything(crawl) == {NAME: 1}
    is_right(crawl)


def test_a_later_capture_that_is_gone_or_fails_or_says_nothing_new(crawl, tmp_path):
    for name in ("gone", "failed", "same", "moved"):
        capture(f"http://a.test/{name}", name, JUNE).save(tmp_path / "all" / f"{name}-1.warc.gz")
    later = {"WARC-Date": JULY}
    writer = Writer().add("http://a.test/gone", b"", "404 Not Found", warc=later)
    writer.add("http://a.test/failed", b"", "503 Service Unavailable", warc=later)
    writer.add("http://a.test/same", b"", "304 Not Modified", kind="revisit", warc=later)
    writer.add("http://a.test/moved", b"", "301 Moved Permanently", http=[("Location", "/same")], warc=later)
    writer.save(tmp_path / "all" / "later.warc.gz")
    replay(crawl, tmp_path / "all")
    assert crawl.urls() == ["http://a.test/failed", "http://a.test/same"]
    assert scrapy("dataset", "verify", crawl.folder).returncode == 0


def test_a_record_has_the_canonical_name_and_the_archive_is_found_under_its_own_spelling(crawl, tmp_path):
    capture(SPELT, 1, JUNE).save(tmp_path / "all" / "spelt.warc.gz")
    capture(NAME, 2, JULY).save(tmp_path / "all" / "named.warc.gz")
    capture("http://A.TEST/gone?z=1&y=2", 3, JUNE, **{"WARC-Truncated": "time"}).save(tmp_path / "all" / "t.warc.gz")
    replay(crawl, tmp_path / "all")
    assert everything(crawl) == {NAME: 1, "http://a.test/gone?y=2&z=1": 1}
    crawl.folder = tmp_path / "alone"
    replay(crawl, tmp_path / "all" / "spelt.warc.gz")
    (record,) = crawl.records()
    assert (record["url"], record["canonical_url"]) == ("http://a.test/x%7Ey?b=2&a=1&utm_source=mail", NAME)
    for name in (NAME, SPELT):
        assert scrapy("dataset", "page", "--raw", crawl.folder, name).stdout.encode() == page(1)


@pytest.mark.parametrize("crawl_id", ["crawl", "another"])
def test_a_replay_into_the_corpus_that_it_comes_from_judges_nothing_a_second_time(crawl, make_site, crawl_id):
    site = make_site(pages=6)
    assert crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port).returncode == 0
    before = everything(crawl)
    said = replay(crawl, crawl.folder / "archive", CRAWL_ID=crawl_id)
    assert everything(crawl) == before and set(before.values()) == {1}
    assert "6 captures are in this corpus already" in said
    is_right(crawl)


def test_a_copy_of_the_archive_brings_no_page_a_second_time(crawl, make_site, tmp_path):
    site = make_site(pages=5)
    assert crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port).returncode == 0
    before = everything(crawl)
    (tmp_path / "copy").mkdir()
    for path in (crawl.folder / "archive").glob("*.warc.gz"):
        (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
    replay(crawl, tmp_path / "copy")
    assert everything(crawl) == before and set(before.values()) == {1}
    is_right(crawl)


def test_a_crawl_of_another_name_into_the_same_folder_replaces_what_it_fetches_again(crawl, make_site):
    site = make_site(pages=5)
    assert crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port).returncode == 0
    before = crawl.accounted()
    again = crawl.run({"url": site.url(0)}, NETWORK_PORTS=site.port, CRAWL_ID="second", PROGRESS="on")
    assert again.returncode == 0, again.stderr
    assert crawl.accounted() == before and {record["crawl_id"] for record in crawl.records()} == {"second"}
    kept, rejected = len(crawl.records()), len(crawl.records("rejected"))
    assert re.search(rf"\b{kept} kept\s+{rejected} rejected", again.stdout)
    is_right(crawl)


def test_records_without_an_address_stop_no_look_at_the_corpus(crawl, tmp_path):
    writer = Writer().add("http://a.test/1", page(1)).add("http://a b.test/", page(2)).add("http://a.test/2", page(3))
    writer.break_last()
    writer.save(tmp_path / "odd.warc.gz")
    replay(crawl, tmp_path / "odd.warc.gz")
    assert Counter(str(r["reason"]) for r in crawl.records("rejected")) == {"broken_record": 2}
    for command in (
        ("dataset", "page", crawl.folder, "http://a.test/1"),
        ("dataset", "lineage", crawl.folder, "http://a.test/1"),
        ("dataset", "lineage", "--domain", "a.test", crawl.folder),
        ("dataset", "query", crawl.folder, "SELECT count(*) FROM rejected"),
        ("dataset", "verify", crawl.folder),
        ("dataset", "export", "--to", "jsonl", "--out", tmp_path / "export", crawl.folder),
        ("report", crawl.folder),
        ("report", "--by", "domain", crawl.folder),
    ):
        done = scrapy(*command)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    absent = scrapy("dataset", "page", crawl.folder, "http://a.test/11")
    assert absent.returncode == 1 and "did you mean http://a.test/1?" in absent.stderr and "Trace" not in absent.stderr


def test_archives_of_other_tools_are_read_with_their_revisits_and_without_types(crawl, tmp_path):
    """By warcio, and by hand where it would not write such a thing."""
    path = tmp_path / "other.warc.gz"
    subprocess.run([sys.executable, "-c", BY_WARCIO, path], check=True, cwd=PROJECT)
    old = Writer().add("http://b.test/old", page("old"), kind="resource", warc={"Content-Type": "text/html"})
    (tmp_path / "b.warc.gz").write_bytes(path.read_bytes() + b"".join(old.records))
    replay(crawl, tmp_path / "b.warc.gz")
    assert crawl.urls() == ["http://b.test/1", "http://b.test/2", "http://b.test/old"]
    assert {str(r["crawled_at"])[:7] for r in crawl.records() if str(r["url"]).endswith("/1")} == {"2026-07"}
    assert scrapy("dataset", "verify", crawl.folder).returncode == 0


def test_a_replay_that_was_killed_before_its_end_leaves_no_double_to_the_next_one(crawl, tmp_path):
    """The versions of a page are there twice until a run comes to its end."""
    for name, when in (("june", JUNE), ("july", JULY)):
        capture(NAME, name, when).save(tmp_path / "all" / f"{name}.warc.gz")
    many = Writer()
    for number in range(40):
        many.add(f"http://a.test/{number}", page(number), warc={"WARC-Date": AUGUST})
    many.save(tmp_path / "all" / "many.warc.gz")
    place, slow = {"archive": str(tmp_path / "all")}, {"ITEM_PIPELINES": slowed(), "COMMIT_SECONDS": 0.05}
    process = crawl.start(place, spider="replay", **slow)
    wait_for(lambda: len(list(crawl.folder.glob("manifest.d/replay-*/*.bookmark"))) > 2 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    said = scrapy("dataset", "verify", "--fix", crawl.folder)  # seals what there is
    assert said.returncode == 0, said.stdout + said.stderr
    replay(crawl, tmp_path / "all")
    assert max(everything(crawl).values()) == 1 and everything(crawl)[NAME] == 1
    is_right(crawl)
