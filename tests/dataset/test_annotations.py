"""Annotations: rows beside the documents, of this text and no other, that go when their document goes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawler.config import from_mapping
from crawler.dataset.annotate import Annotations
from crawler.dataset.annotations.job import job_of
from crawler.dataset.annotations.joined import fields_of
from crawler.dataset.annotations.listed import annotations_in
from crawler.dataset.annotations.rows_file import RowsFile
from crawler.dataset.annotations.tables import key_of
from crawler.dataset.diff import compare, side_of
from crawler.dataset.entries import Wanted
from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.mix.spec import load as load_spec
from crawler.dataset.query import query
from crawler.dataset.records.fields import SIGNALS
from crawler.dataset.registry.holdings import trace
from crawler.dataset.repair import repair
from crawler.dataset.rewrite import Rejection, corpus_place, records_in, rewrite, tidy
from crawler.dataset.select import Selection, condition_of, select
from crawler.dataset.supersede import supersede
from crawler.dataset.verify import fix, verify
from crawler.dataset.versions import Cause, held
from crawler.document import Document
from crawler.observe.report.summary import summarise
from crawler.observe.report.webpage import page
from crawler.problems import InputError
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.corpus.version import versions_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import record_of
from tests.support.places import PROJECT

pytest.importorskip("duckdb", reason="duckdb is optional")
HERE = Path(__file__).parent
NOW = 1.8e9
BIRCH = Wish("a letter from the owner", frozenset({"birch.example"}), refused=frozenset({"birch.example"}))


def job(columns=None, **said):
    return job_of(columns or {"score": "double"}, {}, None, {"kind": "score"} | said, now=NOW)


def rows_for(corpus, score=0.5):
    return [{"canonical_url": r["canonical_url"], "doc_id": r["doc_id"], "score": score} for r in corpus.records()]


def annotate(corpus, name="topic", rows=None, about=None):
    rows = rows_for(corpus) if rows is None else rows
    return Annotations(corpus.place).write(name, about or job(), rows, now=NOW)


def rows_of(place, name="topic"):
    return {row["canonical_url"]: row["score"] for row in Annotations(place).read(name)}


def spec_of(folder, text):
    (folder / "spec.yaml").write_text(text)
    return load_spec(folder / "spec.yaml")


def orphan_free(place):
    documents = {key_of(record) for record in records_in(place)}
    rows = [row for name in Annotations(place).names() for row in Annotations(place).read(name)]
    return all(key_of(row) in documents for row in rows)


def urls_in_parquet(folder):
    return {url for path in Path(folder).rglob("annotations/**/*.parquet")
            for url in pq.read_table(path)["canonical_url"].to_pylist()}  # fmt: skip


def ask(corpus, sql):
    with query(corpus.place, sql) as (_, rows):
        return list(rows)


def test_rows_are_read_back_and_the_new_version_lists_file_hash_and_job(corpus):
    before = corpus.manifest()
    done, refused = annotate(corpus, about=job(code="scorer 1.2", model={"name": "m", "sha256": "ab"}))
    assert done.annotated == 12 and not refused.names
    assert rows_of(corpus.place) == dict.fromkeys((r["canonical_url"] for r in corpus.records()), 0.5)
    manifest = corpus.manifest()
    (entry,) = [entry for entry in manifest["files"] if entry["kind"] == "annotations"]
    assert manifest["version"] == 2 and manifest["counts"] == before["counts"] | {
        "annotations": 12, "files": before["counts"]["files"] + 1, "bytes": before["counts"]["bytes"] + entry["bytes"],
    }  # fmt: skip
    assert entry["documents"] == 12 and entry["job"]["code"] == "scorer 1.2" and entry["job"]["model"]["sha256"] == "ab"
    assert entry["job"]["columns"] == {"score": {"type": "double", "meaning": ""}}
    assert entry["job"]["corpus"] in versions_of(corpus.place)
    assert json.loads(pq.read_schema(corpus.path / entry["path"]).metadata[b"gristmill.job"]) == entry["job"]
    assert not verify(corpus.place).damage and not verify(corpus.place).orphaned


def test_shards_are_not_touched(corpus):
    before = {path: path.read_bytes() for path in (corpus.path / "shards").iterdir()}
    annotate(corpus)
    assert {path: path.read_bytes() for path in (corpus.path / "shards").iterdir()} == before


def test_rows_of_unknown_and_changed_documents_are_refused_by_name(corpus):
    one, two, three = rows_for(corpus)[:3]
    strange = one | {"canonical_url": "https://nowhere.example/"}
    done, refused = annotate(corpus, rows=[one, strange, two | {"doc_id": "sha256:other"}, one | {"score": 0.9}, three])
    assert done.annotated == 2 and (refused.unknown, refused.changed, refused.repeated) == (1, 1, 1)
    assert refused.names == {"unknown": ["https://nowhere.example/"], "changed": [two["canonical_url"]],
                             "repeated": [one["canonical_url"]]}  # fmt: skip
    assert rows_of(corpus.place)[one["canonical_url"]] == 0.5


def test_rows_that_are_all_refused_make_no_version(corpus):
    before = corpus.everything()
    done, refused = annotate(corpus, rows=[{"canonical_url": "https://nowhere.example/", "doc_id": "x", "score": 1.0}])
    assert refused.unknown == 1 and done.version == 1 and corpus.manifest()["version"] == 1
    assert not Annotations(corpus.place).names() and before.count(b"nowhere") == corpus.everything().count(b"nowhere")


def test_a_second_job_replaces_the_rows_of_its_documents_and_leaves_the_others(corpus):
    annotate(corpus)
    newer = rows_for(corpus, 0.9)[:5]
    annotate(corpus, rows=newer, about=job(code="second"))
    found = rows_of(corpus.place)
    assert len(found) == 12 and sorted(found.values()) == [0.5] * 7 + [0.9] * 5
    (one,) = annotations_in(corpus.place.manifest()["files"])
    assert one.rows == 12 and [each["code"] for each in one.jobs] == ["", "second"]
    assert sorted(path.parent.parent.parent.name for path in corpus.path.rglob("annotations/topic/*.parquet")) == [
        corpus.path.name, corpus.path.name, "replaced"
    ]  # fmt: skip


def test_the_same_rows_twice_are_one_row_a_document(corpus):
    annotate(corpus)
    annotate(corpus)
    assert len(list(Annotations(corpus.place).read("topic"))) == 12
    assert ask(corpus, "SELECT count(*), sum(topic.score) FROM documents") == [(12, 6.0)]


def test_other_columns_under_the_same_name_are_refused(corpus):
    annotate(corpus)
    rows = [{"canonical_url": "u", "doc_id": "d", "score": "high"}]
    with pytest.raises(InputError, match="topic has the columns score double, and not score string; drop it first"):
        annotate(corpus, rows=rows, about=job({"score": "string"}))
    assert corpus.manifest()["version"] == 2


@pytest.mark.parametrize(
    "name", ["title", "documents", "quality_signals", next(iter(SIGNALS)), "state", "file", "Topic", "../x", "", "1st"]
)
def test_a_name_that_is_a_field_a_table_or_no_word_is_refused(corpus, name):
    with pytest.raises(InputError, match="an annotation called"):
        annotate(corpus, name)
    assert corpus.manifest()["version"] == 1


def test_a_value_of_another_type_changes_nothing(corpus):
    before = corpus.everything()
    with pytest.raises(InputError, match="a value is not of the type of its column"):
        annotate(corpus, rows=[rows_for(corpus)[0] | {"score": "high"}])
    with pytest.raises(InputError, match="no column is called 'more'"):
        annotate(corpus, rows=[rows_for(corpus)[0] | {"more": 1}])
    assert not list(corpus.path.rglob("annotations/*/*")) and corpus.everything().count(b"phrase") == before.count(
        b"phrase"
    )


def test_a_dropped_annotation_is_gone_and_the_earlier_version_keeps_it(corpus):
    annotate(corpus)
    annotate(corpus, "other")
    Annotations(corpus.place).drop("topic", now=NOW)
    assert Annotations(corpus.place).names() == ["other"]
    assert list((corpus.path / "replaced/annotations/topic").glob("*.parquet"))
    with pytest.raises(InputError, match="no annotation is called 'topics'"):
        Annotations(corpus.place).drop("topics", now=NOW)


def test_rows_go_with_a_withdrawn_domain_in_every_version(corpus):
    annotate(corpus)
    annotate(corpus, rows=rows_for(corpus, 0.9))
    assert any("birch" in url for url in urls_in_parquet(corpus.path / "replaced"))
    withdraw(corpus.place, BIRCH, now=NOW)
    left = urls_in_parquet(corpus.path)
    assert len(left) == 8 and not any("birch" in url for url in left)
    assert not verify(corpus.place).orphaned and not verify(corpus.place).damage
    assert len(rows_of(corpus.place)) == 8


def test_an_annotation_of_withdrawn_documents_alone_leaves_no_file(corpus):
    annotate(corpus, rows=[row for row in rows_for(corpus) if "birch" in row["canonical_url"]])
    withdraw(corpus.place, BIRCH, now=NOW)
    assert not Annotations(corpus.place).names() and not list(corpus.path.rglob("annotations/*/*.parquet"))


def test_a_corpus_without_annotations_is_withdrawn_from_as_ever(corpus):
    withdraw(corpus.place, BIRCH, now=NOW)
    assert corpus.manifest()["counts"].keys() == {"kept", "rejected", "archived", "files", "bytes"}
    assert not (corpus.path / "annotations").exists()


def test_a_rejected_and_a_changed_text_have_no_row_any_more(corpus):
    annotate(corpus)

    def decide(record):
        if record["url"].endswith("/1"):
            return Rejection({"url": record["url"], "stage": "quality", "reason": "low_quality", "crawl_id": "crawl"})
        return record | {"doc_id": "sha256:new", "text": "new"} if record["url"].endswith("/2") else record

    rewrite(corpus.place, decide, Cause("test", "test", NOW))
    assert {url.rpartition("/")[2] for url in rows_of(corpus.place)} == {"0", "3"} and orphan_free(corpus.place)


def test_a_superseded_document_loses_its_row_and_the_new_text_has_none(corpus):
    annotate(corpus)
    again = Corpus(from_mapping({"CORPUS_DIR": str(corpus.path), "WORKER_ID": "w2"}), clock=lambda: NOW)
    again.open()
    old = corpus.records()[0]
    doc = Document(**{name: old[name] for name in ("url", "canonical_url", "domain", "crawl_id")}, doc_id="sha256:new",
                   text="a later text", crawled_at="2027-01-01T00:00:00Z", first_seen=old["crawled_at"], done=["pii"],
                   text_allowed=True)  # fmt: skip
    again.keep(record_of(doc))
    again.close()
    assert len(rows_of(corpus.place)) == 12
    supersede(corpus.place, now=NOW)
    assert len(rows_of(corpus.place)) == 11 and old["canonical_url"] not in rows_of(corpus.place)


def test_a_second_writer_is_refused_with_a_sentence_and_nothing_is_left(corpus):
    lock = held(corpus.place, "rewrite~0002")
    try:
        with pytest.raises(StorageError, match="is at work; a rewrite needs a finished crawl"):
            annotate(corpus)
    finally:
        lock.release()
    assert not list(corpus.path.rglob("annotations/*/*"))


@pytest.mark.parametrize("what", ["annotate", "withdraw"])
def test_a_death_at_any_step_leaves_the_old_version_or_the_new_one(corpus, tmp_path, what):
    annotate(corpus)
    done = subprocess.run(
        [sys.executable, str(HERE / "annotate_process.py"), str(corpus.path), str(tmp_path / "dead"), what],
        capture_output=True, text=True, cwd=PROJECT, timeout=300, check=True,
    )  # fmt: skip
    steps = int(done.stdout)
    assert steps > 10
    for step in range(1, steps + 1):
        place = Place(str(tmp_path / "dead" / str(step)))
        assert set(rows_of(place).values()) in ({0.5}, {0.9}) and orphan_free(place), step
        tidy(place)
        listed = {entry["path"] for entry in place.manifest()["files"]}
        there = {str(path.relative_to(place.root)) for path in place.root.glob("annotations/*/*")}
        assert there == {path for path in listed if path.startswith("annotations/")}, step
        if place.manifest()["version"] == 3 and what == "withdraw":
            assert not any("birch" in url for url in urls_in_parquet(place.root)), step


def test_verify_tells_rows_without_a_document_and_prune_takes_them_out(corpus):
    annotate(corpus)
    found = verify(corpus.place)
    first = corpus.records()[0]
    line = next((e["path"], 0) for e in corpus.manifest()["files"] if e["kind"] == "shards")
    fix(corpus.place, [line])
    assert not found.orphaned and verify(corpus.place).orphaned == {"topic": 1}
    Annotations(corpus.place).prune(Cause("dataset verify --fix", "test", NOW))
    assert verify(corpus.place).orphaned == {} and first["canonical_url"] not in rows_of(corpus.place)


def test_a_damaged_and_a_strange_file_are_found(corpus):
    annotate(corpus)
    (path,) = (corpus.path / "annotations/topic").glob("*.parquet")
    (path.parent / "mine.parquet").write_bytes(b"x")
    assert verify(corpus.place).beside.strangers == ["annotations/topic/mine.parquet"]
    path.write_bytes(path.read_bytes()[:-9])
    assert [said.partition(":")[0] for said in verify(corpus.place).damage] == [f"annotations/topic/{path.name}"]
    with pytest.raises(StorageError, match="cannot be read"):
        list(Annotations(corpus.place).read("topic"))


def test_annotations_are_columns_and_a_table_of_a_query(corpus):
    annotate(corpus, rows=[row | {"score": 0.1 * n} for n, row in enumerate(rows_for(corpus)[:3])])
    assert ask(corpus, "SELECT count(*) FROM documents WHERE topic.score > 0.15") == [(1,)]
    assert ask(corpus, "SELECT count(*), count(topic.score) FROM documents") == [(12, 3)]
    assert ask(corpus, "SELECT count(*) FROM topic") == [(3,)]
    assert ask(corpus, "SELECT count(*) FROM files WHERE kind = 'annotations'") == [(1,)]


def test_a_subset_by_annotation_takes_its_rows_along(corpus, tmp_path):
    rows = [row | {"score": 0.1 * n} for n, row in enumerate(rows_for(corpus))]
    annotate(corpus, rows=rows)
    target = Place(str(tmp_path / "subset"))
    wanted = Selection(conditions=(condition_of("topic.score >= 0.55 and text ~ phrase", fields_of(corpus.place)),))
    run = select(corpus.place, target, wanted, max_bytes=10**9, now=NOW)
    assert run["selected_from"]["selected"] == 6 and run["selected_from"]["where"] == [
        "topic.score>=0.55 and text~phrase"
    ]
    assert rows_of(target) == {row["canonical_url"]: row["score"] for row in rows[6:]}
    assert not verify(target).damage and not verify(target).orphaned
    assert next(iter(Annotations(target).read("topic"))).keys() == {"canonical_url", "doc_id", "score"}


def test_a_condition_on_an_annotation_that_is_not_there_is_refused(corpus):
    with pytest.raises(ValueError, match=r"'topic\.score' is not a field"):
        condition_of("topic.score>1", fields_of(corpus.place))


def test_columns_of_json_lines_are_of_the_type_that_has_every_value(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = [{"canonical_url": "u", "doc_id": "d", "a": 1, "b": None, "c": [1], "d": True, "e": []},
             {"canonical_url": "v", "doc_id": "d", "a": 1.5, "b": "x", "c": [0.5], "d": False, "f": None}]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert RowsFile(path).columns() == {
        "a": "double", "b": "string", "c": "list<double>", "d": "bool", "e": "list<string>", "f": "string"
    }  # fmt: skip
    assert list(RowsFile(path).rows()) == lines


def test_embeddings_of_parquet_keep_their_32_bits(corpus, tmp_path):
    path = tmp_path / "rows.parquet"
    keys = [(r["canonical_url"], r["doc_id"]) for r in corpus.records()]
    vectors = pa.array([[0.5, float(n)] for n in range(len(keys))], pa.list_(pa.float32(), 2))
    pq.write_table(
        pa.table({"canonical_url": [k[0] for k in keys], "doc_id": [k[1] for k in keys], "v": vectors}), path
    )
    rows = RowsFile(path)
    assert rows.columns() == {"v": "list<float>"}
    annotate(corpus, "embedding", rows.rows(), job(rows.columns(), kind="embedding"))
    assert ask(corpus, "SELECT max(embedding.v[2]), any_value(typeof(embedding.v)) FROM documents") == [
        (11.0, "FLOAT[]")
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"canonical_url": "u", "doc_id": "d", "a": {"b": 1}}\n', "column a: type 'object' instead of one of"),
        ('{"canonical_url": "u", "doc_id": "d", "a": 1}\n{"a": "x"}\n', "column a: type 'int64 and string' instead"),
        ('{"canonical_url": "u", "doc_id": "d"}\n', "no column with values beside"),
        ('{"canonical_url": "u", "a": 1}\n', "row 1: expected the texts canonical_url and doc_id"),
        ("", "no column with values beside"),
        ("[1]\n", "line 1: expected an object"),
        ("{\n", "line 1: not JSON"),
        ('{"canonical_url": "u", "doc_id": "d", "A-b": 1}\n', "column 'A-b': expected a-z"),
    ],
)
def test_a_file_of_rows_that_cannot_be_taken_is_a_sentence(corpus, tmp_path, content, said):
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=said):
        annotate(corpus, rows=RowsFile(path).rows(), about=job_of(RowsFile(path).columns(), {}, None, {}, now=NOW))
    assert corpus.manifest()["version"] == 1


def test_a_mixture_chooses_by_annotation(corpus, tmp_path):
    rows = [row | {"score": 0.1 * n} for n, row in enumerate(rows_for(corpus))]
    annotate(corpus, rows=rows)
    found = spec_of(tmp_path, f"{{tokens: 9, sources: {{ours: {{corpus: {corpus.path}, where: topic.score < 0.25}}}}}}")
    counts = Counts()
    read = [record["canonical_url"] for record in Sources(found.sources).read(0, counts)]
    assert sorted(read) == sorted(row["canonical_url"] for row in rows[:3]) and counts.left_out == 9


def test_a_report_counts_annotated_documents(corpus):
    assert summarise(str(corpus.path)).annotations == {}
    annotate(corpus, rows=rows_for(corpus)[:5])
    found = summarise(str(corpus.path))
    assert found.annotations == {"topic": 5} and found.annotated == "Annotations, of 12 documents kept"
    assert "Annotations, of 12 documents kept" in page(found)


def test_a_trace_of_a_page_and_a_comparison_of_versions_pass_annotations_by(corpus):
    annotate(corpus)
    url = corpus.records()[0]["url"]
    found = trace(str(corpus.path), [], Wanted(frozenset({url})))
    (held,) = {file.path for each in found.holdings for file in each.files}
    assert held.startswith("shards/") and not found.unread
    assert compare(side_of(f"{corpus.path}@1"), side_of(str(corpus.path))).same == 12


def test_a_manifest_that_is_lost_is_written_again_with_the_annotations(corpus):
    annotate(corpus)
    before = corpus.manifest()
    (corpus.path / "manifest.json").unlink()
    assert not repair(corpus.place).missing and corpus.manifest() == before


def test_in_an_object_store_rows_are_written_read_joined_and_withdrawn(corpus, tmp_path):
    url = f"memory://annotated-{tmp_path.name}"
    fsspec.filesystem("memory").put(str(corpus.path), url, recursive=True)
    with corpus_place(url) as place:
        rows = rows_for(corpus)
        Annotations(place).write("topic", job(), rows, now=NOW)
        Annotations(place).write("topic", job(), [row | {"score": 0.9} for row in rows[:2]], now=NOW)
        with query(place, "SELECT count(topic.score), max(topic.score) FROM documents") as (_, answer):
            assert list(answer) == [(12, 0.9)]
        withdraw(place, BIRCH, now=NOW)
    place = Place(url)
    assert len(rows_of(place)) == 8 and not any("birch" in page for page in rows_of(place))
    assert not place.listing("replaced/annotations/topic")
    found = verify(place)
    assert not found.damage and not found.orphaned and not found.beside.strangers
