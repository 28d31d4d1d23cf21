"""`dataset annotate` and `dataset annotations`: what they say, what is refused, and what follows from it."""

from __future__ import annotations

import json

import pytest

from crawler.dataset.verify import fix
from crawler.storage.files.place import Place
from tests.support.corpus_folder import Folder

pytest.importorskip("duckdb", reason="duckdb is optional")


def rows(corpus: Folder, path, count: int = 6, **more):
    lines = [{"canonical_url": r["canonical_url"], "doc_id": r["doc_id"], "topic": "birds"} for r in corpus.records()]
    path.write_text("".join(json.dumps(line | more) + "\n" for line in lines[:count]))
    return path


def test_rows_are_taken_listed_chosen_by_and_dropped(scrapy, corpus, tmp_path):
    rows(corpus, tmp_path / "topics.jsonl", 4)
    (tmp_path / "job.json").write_text('{"model": {"name": "m"}, "cost": {"cpu_seconds": 1.5}, "code": "scorer 2"}')
    words = ["--name", "subject", "--file", "topics.jsonl", "--kind", "label", "--job", "job.json"]
    done = scrapy("dataset", "annotate", "corpus", *words, "--meaning", "topic=what it is about")
    assert (done.code, done.out) == (0, "subject: 4 rows; version 2 of the corpus\n"), done.err
    listed = scrapy("dataset", "annotations", "corpus")
    assert listed.out.startswith("subject: 4 of 6 documents; label, topic; 20") and "scorer 2" in listed.out
    (found,) = json.loads(scrapy("dataset", "annotations", "corpus", "--json").out)["annotations"]
    assert (found["rows"], round(found["coverage"], 3)) == (4, 0.667)
    assert found["jobs"][0]["columns"] == {"topic": {"type": "string", "meaning": "what it is about"}}
    assert found["jobs"][0]["cost"] == {"cpu_seconds": 1.5} and found["jobs"][0]["kind"] == "label"
    chosen = scrapy("dataset", "select", "corpus", "--out", "subset", "--where", "subject.topic = birds")
    assert chosen.out == "4 of 6 documents are in subset\n"
    assert scrapy("dataset", "select", "corpus", "--out", "by-sql", "--sql", "subject.topic = 'birds'").code == 0
    assert "subject: 4 of 4 documents" in scrapy("dataset", "annotations", "subset").out
    assert "dataset annotate" in scrapy("dataset", "log", "corpus").out
    assert "annotations/subject/" in scrapy("dataset", "show", "corpus").out
    assert scrapy("dataset", "verify", "corpus").code == 0
    assert scrapy("dataset", "annotations", "corpus", "--drop", "subject").out == "no annotation\n"
    assert scrapy("dataset", "verify", "corpus").code == 0


def test_refused_rows_are_problems_that_name_them_and_the_others_are_written(scrapy, corpus, tmp_path):
    path = rows(corpus, tmp_path / "topics.jsonl", 2)
    strange = {"canonical_url": "https://nowhere.example/", "doc_id": "x", "topic": "birds"}
    path.write_text(path.read_text() + json.dumps(strange) + "\n")
    done = scrapy("dataset", "annotate", "corpus", "--name", "subject", "--file", "topics.jsonl", "--json")
    found = json.loads(done.out)
    assert done.code == 1 and (found["rows"], found["unknown"], found["corpus_version"]) == (2, 1, 2)
    assert found["error"]["problems"] == ["1 row of pages that are not in the corpus: https://nowhere.example/"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--name", "title", "--file", "topics.jsonl"], 1, "an annotation called 'title'"),
        (["--name", "subject", "--file", "topics.csv"], 1, "topics.csv: expected a file of rows"),
        (["--name", "subject", "--file", "none.jsonl"], 1, "none.jsonl: no such file"),
        (["--name", "subject", "--file", "topics.jsonl", "--meaning", "x"], 2, "expected COLUMN=TEXT"),
        (["--name", "subject", "--file", "topics.jsonl", "--meaning", "x=y"], 1, "no column is called 'x'"),
        (["--name", "subject", "--file", "topics.jsonl", "--job", "job.json"], 1, "job.json: 'price' is no part of a"),
        (["--name", "subject"], 2, "--file"),
    ],
)
def test_a_mistake_is_a_sentence_and_changes_nothing(scrapy, corpus, tmp_path, words, code, said):
    rows(corpus, tmp_path / "topics.jsonl")
    (tmp_path / "job.json").write_text('{"price": 1}')
    done = scrapy("dataset", "annotate", "corpus", *words)
    assert done.code == code and said in done.err
    assert corpus.manifest().get("version", 1) == 1 and not (tmp_path / "corpus" / "annotations").exists()


def test_fix_takes_out_rows_whose_document_is_not_there(scrapy, corpus, tmp_path):
    rows(corpus, tmp_path / "topics.jsonl")
    scrapy("dataset", "annotate", "corpus", "--name", "subject", "--file", "topics.jsonl")
    shard = next(entry["path"] for entry in corpus.manifest()["files"] if entry["kind"] == "shards")
    fix(Place("corpus"), [(shard, 0)])
    done = scrapy("dataset", "verify", "corpus")
    assert done.code == 1 and "annotations/subject: 1 row of documents that are not in the corpus" in done.err
    assert scrapy("dataset", "verify", "corpus", "--fix").code == 0
    assert "subject: 5 of 5 documents" in scrapy("dataset", "annotations", "corpus").out
