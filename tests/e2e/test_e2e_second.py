"""The second run over the demo web, which has changed: every page ends as `demo/second/` declares."""

from __future__ import annotations

import gzip
import re
from collections import Counter

import pytest

from demo import again
from demo.outputs import read_corpus
from demo.pages import load_changes

pytestmark = pytest.mark.usefixtures("demo_crawl")


def test_the_second_run_ends_well_and_its_summary_says_what_it_found(demo_crawl) -> None:
    assert demo_crawl.third.code == 0, demo_crawl.third.output[-4000:]
    said = " ".join(demo_crawl.third.output.split())
    found = re.findall(r"[\d,]+ gone, [^;]*? failed", said)
    assert found == [
        "2 gone, 1 moved, 1 decayed, 1 opted out, 3 failed"
    ]  # one of them is tried again, as in the second run
    assert "not sent again" in said
    assert "CPU saved" in said


def test_every_page_of_the_second_generation_ends_as_declared_and_all_others_as_they_were(demo_crawl) -> None:
    assert again.problems(demo_crawl.second_web, read_corpus(demo_crawl.second_corpus_dir)) == []


def test_the_check_sees_a_page_that_did_not_end_as_declared(demo_crawl) -> None:
    before_the_change = demo_crawl.corpus()
    named = " ".join(again.problems(demo_crawl.second_web, before_the_change))
    for page in load_changes():
        if page.expect != "rejected too_short|no_text":
            assert demo_crawl.second_web.url(page.path, page.site) in named or page.expect.startswith("one-of")


def test_the_corpus_of_the_second_run_verifies(demo_crawl, scrapy) -> None:
    done = scrapy("dataset", "verify", demo_crawl.second_corpus_dir)
    assert done.code == 0, done.output


def test_no_document_is_in_the_corpus_twice(demo_crawl) -> None:
    urls = Counter(record["canonical_url"] for record in read_corpus(demo_crawl.second_corpus_dir).kept)
    assert [url for url, count in urls.items() if count > 1] == []


def test_the_difference_between_both_runs_is_told_by_dataset_diff(demo_crawl, scrapy) -> None:
    done = scrapy("dataset", "diff", demo_crawl.corpus_dir, demo_crawl.second_corpus_dir)
    assert done.code == 0, done.output
    lost = demo_crawl.second_web.url("/sky/halo", "almanac")
    assert "1 recrawl/moved" in done.output
    assert lost in done.output
    assert "ninth week of this year" in done.output


def test_a_replay_of_both_generations_ends_every_archived_page_as_the_crawls_did(demo_crawl, scrapy, tmp_path) -> None:
    archive = demo_crawl.second_corpus_dir / "archive"
    done = scrapy("crawl", "replay", "-a", f"archive={archive}", "-s", f"CORPUS_DIR={tmp_path}/again")
    assert done.code == 0, done.output
    crawled, replayed = (read_corpus(folder) for folder in (demo_crawl.second_corpus_dir, tmp_path / "again"))
    assert _comparable(replayed.kept) == _comparable(crawled.kept)
    assert _outcomes(replayed.rejected) == _outcomes(record for record in crawled.rejected if record["warc_file"])
    assert {"gone", "moved", "decayed", "redirected"} <= {reason for _, _, reason, _ in _outcomes(replayed.rejected)}


def _comparable(records) -> dict[str, dict[str, object]]:
    """Records by address, without what says which run wrote them and where the archive was."""
    own = {"warc_file", "worker_id", "config_digest"}
    return {record["url"]: {k: v for k, v in record.items() if k not in own} for record in records}


def _outcomes(records) -> list[tuple[str, ...]]:
    return sorted((r["url"], r["stage"], r["reason"], r["crawled_at"]) for r in records)


def test_an_opted_out_page_is_in_no_file_of_the_corpus(demo_crawl) -> None:
    phrase = _phrase(demo_crawl)
    archives = sorted((demo_crawl.second_corpus_dir / "archive").glob("*.gz"))
    assert any(phrase in gzip.decompress(path.read_bytes()) for path in (demo_crawl.folder / "corpus-1").rglob("*.gz"))
    assert archives
    assert not any(phrase in gzip.decompress(path.read_bytes()) for path in archives)


def _phrase(demo_crawl) -> bytes:
    page = demo_crawl.web.sites["almanac"].pages["/shore/saltmarsh"]
    return page.body[:80].encode()
