"""An operation that changes a corpus in a store lets its files grow in a temporary folder, unless a spool is named."""

from __future__ import annotations

import pytest

from crawler.dataset.supersede import command
from crawler.dataset.verify import verify
from crawler.storage.files.place import Place

ELSEWHERE = "name the frontier and the duplicate index that have to forget these pages, with -s REDIS_URL=…"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["best"], "of 0 kept documents with duplicates have a better copy"),
        (["best", "--exchange"], "of 0 kept documents with duplicates have a better copy"),
        (["supersede"], "every record is the latest of its page"),
        (["expire", "--older-than", "10000"], "no archive is older than 10000 days"),
        (["expire", "--older-than", "1"], "archive"),
        (["expire", "--dry-run", "-s", "DOCUMENT_TTL_DAYS=*:1"], "documents"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_corpus_in_a_store_is_changed_without_a_spool(scrapy, remote, tmp_path, words, said):
    before = {path.name for path in tmp_path.iterdir()}
    done = scrapy("dataset", *words, remote.url)
    assert done.code == 0, done.err
    assert said in done.out
    assert {path.name for path in tmp_path.iterdir()} == before
    assert not verify(Place(remote.url)).damage


def test_who_takes_pages_out_of_a_store_says_where_the_frontier_is_that_forgets_them(scrapy, remote, redis_url):
    words = ["expire", "-s", "DOCUMENT_TTL_DAYS=*:1"]
    done = scrapy("dataset", *words, remote.url)
    assert (done.code, done.out) == (1, "")
    assert ELSEWHERE in done.err
    assert Place(remote.url).manifest().get("version", 1) == 1
    done = scrapy("dataset", *words, remote.url, "-s", f"REDIS_URL={redis_url}")
    assert done.code == 0, done.err
    assert "claims in the duplicate index are free again" in done.out
    assert Place(remote.url).manifest()["version"] == 2
    assert not verify(Place(remote.url)).damage


def test_a_withdrawal_from_a_store_needs_no_frontier_and_says_which_crawl_was_not_told(scrapy, remote):
    words = ["exclude", "--domain", "birch.example", "--reason", "letter", "--yes"]
    done = scrapy("dataset", *words, remote.url)
    assert done.code == 0, done.err
    assert "REDIS_URL" in done.out
    assert Place(remote.url).manifest()["version"] == 2
    assert not verify(Place(remote.url)).damage


def test_the_spool_of_a_crawl_without_a_server_says_it_too(scrapy, remote, tmp_path):
    words = ["exclude", "--domain", "birch.example", "--reason", "letter", "--yes", remote.url]
    done = scrapy("dataset", *words, "-s", f"CORPUS_SPOOL_DIR={tmp_path / 'another'}")
    assert done.code == 0, done.err
    assert "there is no frontier here, so no queue was changed" in done.out


def test_what_is_advised_for_a_corpus_in_a_store_is_all_that_has_to_be_typed(scrapy, remote):
    words = command(Place(remote.url)).strip("`").split()[1:]
    assert words == ["dataset", "supersede", remote.url]
    assert scrapy(*words).code == 0
