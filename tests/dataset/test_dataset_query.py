"""Questions to a corpus: the index says what the records say, follows every change, and SQL opens no other door."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from crawler.config import from_mapping
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.query import QueryError, query
from crawler.dataset.rewrite import rewrite
from crawler.dataset.spreadsheet import harmless
from crawler.dataset.verify import verify
from crawler.dataset.versions import Cause
from crawler.operations.query import _write
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.files.columns import record_of_row
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.record_index import refresh
from tests.support.three_domains import Folder, add, fill, secret

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is optional")
duckdb = pytest.importorskip("duckdb", reason="duckdb is optional")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("query")
    for shard_format in ("jsonl.zst", "parquet"):
        fill(folder / shard_format, SHARD_FORMAT=shard_format)
    return folder


@pytest.fixture(params=["jsonl.zst", "parquet"])
def corpus(made, tmp_path, request) -> Folder:
    return Folder(shutil.copytree(made / request.param, tmp_path / "corpus"))


def ask(place: Place, sql: str):
    with query(place, sql) as (_, rows):
        return list(rows)


@pytest.mark.parametrize(("table", "folder"), [("documents", "shards"), ("rejected", "rejected")])
def test_the_index_has_every_field_of_every_record_but_the_text(corpus, table, folder):
    with query(corpus.place, f"SELECT * FROM {table}") as (names, rows):
        found = [record_of_row({"text": "", **dict(zip(names, row, strict=True))}) for row in rows]
    expected = corpus.records(folder)
    assert len(found) == len(expected) > 0
    for row, record in zip(found, expected, strict=True):
        assert {name: row[name] for name in record if name != "text"} == {
            k: v for k, v in record.items() if k != "text"
        }


def test_counts_by_sql_are_those_of_the_records(corpus):
    found = ask(corpus.place, "SELECT domain, count(*), sum(word_count) FROM documents GROUP BY domain ORDER BY domain")
    domains = sorted({r["domain"] for r in corpus.records()})
    of = {d: [r for r in corpus.records() if r["domain"] == d] for d in domains}
    assert found == [(d, len(of[d]), sum(r["word_count"] for r in of[d])) for d in domains]
    files = ask(corpus.place, "SELECT path, documents, sha256 FROM files ORDER BY path")
    assert files == [(e["path"], e["documents"], e["sha256"]) for e in corpus.manifest()["files"]]


def test_the_second_question_reads_no_shard_again_and_a_broken_index_is_made_again(corpus):
    read: list[str] = []
    folder = corpus.path / "index"
    shutil.rmtree(folder)  # the crawl has made it
    refresh(corpus.place, folder, progress=read.append)
    assert read == [e["path"] for e in corpus.manifest()["files"] if e["kind"] != "archive"]
    refresh(corpus.place, folder, progress=read.append)
    assert len(read) == len(set(read))
    (folder / f"{read[0]}.parquet").write_bytes(b"broken")
    refresh(corpus.place, folder, progress=read.append)
    assert read[-1] == read[0] and ask(corpus.place, "SELECT count(*) FROM documents") == [(12,)]


def test_what_a_killed_writer_left_of_an_index_goes_and_what_a_living_one_writes_stays(corpus):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    drafts = [corpus.path / "index" / "shards" / f".a.parquet.{pid}.tmp" for pid in (gone.pid, os.getpid())]
    for draft in drafts:
        draft.write_bytes(b"half")
    ask(corpus.place, "SELECT count(*) FROM documents")
    assert [draft.exists() for draft in drafts] == [False, True]


def test_it_follows_what_a_later_crawl_seals_and_what_a_rewrite_changes(corpus):
    assert ask(corpus.place, "SELECT count(*) FROM documents") == [(12,)]
    more = Corpus(from_mapping({"CORPUS_DIR": str(corpus.path), "WORKER_ID": "w2"}))
    more.open()
    add(more, "dogwood.example", "CC0-1.0", 7, kept=True)
    more.close()
    assert ask(corpus.place, "SELECT count(*) FROM documents") == [(13,)]
    rewrite(corpus.place, lambda r: r | {"quality_score": 0.125}, Cause("test", "why", 1.8e9))
    assert ask(corpus.place, "SELECT count(*), min(quality_score) FROM documents") == [(13, 0.125)]
    assert not verify(corpus.place).damage


def titles(folder: Path) -> set[str | None]:
    """Of every Parquet file below a folder."""
    found = [parquet.read_table(path, columns=["title"]) for path in folder.rglob("*.parquet")]
    return {title for table in found for title in table["title"].to_pylist()}


def test_the_title_of_a_withdrawn_page_leaves_the_index_with_the_withdrawal(corpus):
    assert ask(corpus.place, "SELECT count(*) FROM documents WHERE domain = 'alder.example'") == [(4,)]
    title = secret("alder.example", 1)
    assert title in titles(corpus.path / "index")
    withdraw(corpus.place, Wish("asked", domains=frozenset({"alder.example"})), now=1.8e9)
    assert title not in titles(corpus.path)
    assert not any(title.encode() in path.read_bytes() for path in corpus.path.rglob("*") if path.is_file())
    assert ask(corpus.place, "SELECT count(*) FROM documents WHERE domain = 'alder.example'") == [(0,)]


def test_a_corpus_without_documents_has_empty_tables(tmp_path):
    corpus = Corpus(from_mapping({"CORPUS_DIR": str(tmp_path), "WORKER_ID": "w1"}))
    corpus.open()
    corpus.close()
    place = Place(str(tmp_path))
    assert ask(place, "SELECT (SELECT count(url) FROM documents), (SELECT count(reason) FROM rejected)") == [(0, 0)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT content FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
        "COPY documents TO 'stolen.csv'",
        "COPY (SELECT 1) TO '{index}'",
        "INSERT INTO files SELECT * FROM files",
        "DROP VIEW documents",
        "SET enable_external_access = true",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "SELECT 1; SELECT 2",
        "EXPORT DATABASE 'x'",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "",
        "SELECT nothing FROM documents",
        "select from where",
    ],
)
def test_sql_that_is_no_question_to_the_tables_is_refused_and_changes_nothing(corpus, tmp_path, monkeypatch, sql):
    monkeypatch.chdir(tmp_path)
    ask(corpus.place, "SELECT 1")
    index = next((corpus.path / "index").rglob("*.parquet"))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(QueryError):
        ask(corpus.place, sql.format(index=index))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_damaged_shard_is_told_and_no_index_is_made_of_it(corpus):
    shutil.rmtree(corpus.path / "index")  # the crawl has made it
    path = next(e["path"] for e in corpus.manifest()["files"] if e["kind"] == "shards")
    (corpus.path / path).write_bytes(b"damaged")
    with pytest.raises(StorageError):
        ask(corpus.place, "SELECT 1")
    assert not (corpus.path / "index" / f"{path}.parquet").exists()


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_cell_that_a_spreadsheet_would_run_is_written_as_text(begin):
    assert harmless(f"{begin}cmd|' /C calc'!A1") == f"'{begin}cmd|' /C calc'!A1"


@pytest.mark.parametrize("value", ["a=1", "", " =1", "[-1]", "-5", "+4.5", "-1e-3", -5, -0.5, True, None])
def test_numbers_and_ordinary_text_stay_as_they_are_in_csv(value):
    assert harmless(value) == value


def test_of_a_query_as_csv_no_cell_begins_a_formula_and_a_negative_number_is_one(corpus, capsys):
    sql = "SELECT '=1+1' AS a, -count(*) AS b, '-2' AS c, '+49 30 1' AS d, ['=x'] AS \"=e\" FROM documents"
    with query(corpus.place, sql) as answer:
        _write(*answer, "csv")
    head, row = csv.reader(io.StringIO(capsys.readouterr().out))
    assert head == ["a", "b", "c", "d", "'=e"]
    assert row == ["'=1+1", "-12", "-2", "'+49 30 1", "['=x']"]
    with query(corpus.place, sql) as answer:
        _write(*answer, "jsonl")
    assert '"a":"=1+1"' in capsys.readouterr().out


def test_the_command_answers_as_csv_and_as_json_lines(corpus, capsys):
    from crawler.operations.query import _write

    with query(corpus.place, "SELECT domain, count(*) AS n FROM documents GROUP BY domain ORDER BY domain") as answer:
        _write(*answer, "csv")
    assert capsys.readouterr().out.splitlines()[:2] == ["domain,n", "alder.example,4"]
    with query(corpus.place, "SELECT domain, optout_signals FROM documents ORDER BY url LIMIT 1") as answer:
        _write(*answer, "jsonl")
    assert orjson.loads(capsys.readouterr().out) == {"domain": "alder.example", "optout_signals": []}
