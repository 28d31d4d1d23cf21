"""An operation that only reads a corpus in a store needs no folder in which files grow."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["query", "CORPUS", "SELECT count(*) AS n FROM documents"], "n\n"),
        (["export", "--to", "parquet", "--out", "release", "CORPUS"], "are in release"),
        (["diff", "CORPUS", "CORPUS"], "documents are the same"),
        (["select", "--language", "en", "--out", "english", "CORPUS"], "are in english"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_corpus_in_a_store_is_read_without_a_spool(scrapy, remote, tmp_path, words, said):
    before = {path.name for path in tmp_path.iterdir()}
    done = scrapy("dataset", *(remote.url if word == "CORPUS" else word for word in words))
    assert done.code == 0, done.err
    assert said in done.out
    assert {path.name for path in tmp_path.iterdir()} - before <= {"release", "english"}


def test_a_subset_that_goes_into_a_store_still_needs_one(scrapy, remote):
    done = scrapy("dataset", "select", "--language", "en", "--out", f"{remote.url}-english", remote.url)
    assert done.code == 1
    assert "set CORPUS_SPOOL_DIR to a local folder" in done.err
