"""The index of a shard is written when it is sealed, and its absence never costs a page."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest

from crawler.config import from_mapping
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.place import index_path
from crawler.storage.files.record_index import refresh
from crawler.storage.files.shards import read_records
from tests.support import three_domains

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (make test installs it)")


def begun(tmp_path, **settings):
    ticks = itertools.count(1_767_225_600)
    config = from_mapping({"CORPUS_DIR": str(tmp_path / "corpus"), "SHARD_MAX_BYTES": 3_000, **settings})
    corpus = Corpus(config, clock=lambda: float(next(ticks)))
    corpus.open()
    return corpus


def fill(corpus, numbers):
    for number in numbers:
        three_domains.add(corpus, "alder.example", "CC-BY-4.0", number, kept=number % 3 > 0)
        corpus.commit()


def urls(corpus):
    """Of each sealed shard, its URLs and those of its index, with whether the index has a text."""
    for entry in corpus.place.manifest()["files"]:
        if entry["kind"] != "archive":
            table = parquet.read_table(corpus.place.root / index_path(entry["path"]))
            records = [record["url"] for record in read_records(corpus.place, entry["path"])]
            yield records, table["url"].to_pylist(), "text" in table.column_names


def test_after_each_seal_of_a_living_crawl_the_index_holds_exactly_the_sealed_records(tmp_path):
    corpus, seen = begun(tmp_path), []
    for number in range(30):
        fill(corpus, [number])
        sealed = list(urls(corpus))
        assert all(records == indexed and not text for records, indexed, text in sealed)
        seen.append(len(sealed))
    corpus.close()
    assert len(set(seen)) > 5  # shards were sealed all along
    assert sum(len(indexed) for _, indexed, _ in urls(corpus)) == 30
    read: list[str] = []
    refresh(corpus.place, tmp_path / "corpus" / "index", progress=read.append)
    assert read == []  # nothing was left to do


def test_without_the_setting_the_next_query_makes_it(tmp_path):
    corpus = begun(tmp_path, INDEX_AT_SEAL=False)
    fill(corpus, range(9))
    corpus.close()
    assert not (tmp_path / "corpus" / "index").exists()
    read: list[str] = []
    refresh(corpus.place, tmp_path / "corpus" / "index", progress=read.append)
    assert len(read) == len(list(urls(corpus))) > 1


def test_an_index_that_cannot_be_written_costs_no_page_and_the_next_query_makes_it(tmp_path, caplog):
    corpus = begun(tmp_path)
    (tmp_path / "corpus" / "index").write_bytes(b"")  # no folder can be made there
    fill(corpus, range(9))
    corpus.close()
    assert "the next query makes it" in caplog.text
    (tmp_path / "corpus" / "index").unlink()
    refresh(corpus.place, tmp_path / "corpus" / "index")
    assert sum(len(records) for records, _, _ in urls(corpus)) == 9


def test_the_next_start_removes_the_half_index_of_a_killed_worker_and_leaves_that_of_a_living_one(tmp_path):
    fill(corpus := begun(tmp_path), range(9))
    corpus.close()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    index = next((tmp_path / "corpus" / "index").rglob("*.parquet"))
    dead, living = (index.with_name(f".{index.name}.{process}.tmp") for process in (ended.pid, os.getpid()))
    dead.write_bytes(b"PAR1")
    living.write_bytes(b"PAR1")
    begun(tmp_path).close()
    assert not dead.exists() and living.exists()
