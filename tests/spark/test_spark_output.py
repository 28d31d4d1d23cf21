"""What tasks and driver write, without a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.config import StorageConfig, from_mapping
from crawler.dataset.living import Living
from crawler.dataset.verify import verify
from crawler.operations import exclude
from crawler.spark.inputs import inputs_of
from crawler.spark.job import fields_of, work_folder
from crawler.spark.output import DRAFTS, Output, Written, write_parts
from crawler.spark.partition import Line
from crawler.storage.corpus.manifest import start_run
from crawler.storage.corpus.version import manifest_hash, versions_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record, encode
from crawler.storage.types import Run
from tests.support.operations import answer_of
from tests.support.three_domains import Folder, fill

CONFIG = from_mapping({})


@pytest.fixture
def records(tmp_path: Path) -> list[Record]:
    fill(tmp_path / "source")
    return list(Folder(tmp_path / "source").records())


def lines_of(records: list[Record]) -> list[Line]:
    return [Line("shards", encode(record)) for record in records]


def a_run(records: list[Record]) -> Run:
    made = start_run(
        1.8e9, crawl_id="c", worker_id="w", config_digest="d", judging_digest="j", judging_parts={}, kind="replay"
    )
    made["archives"] = {record["warc_file"]: "0" * 64 for record in records}
    return made


def write(place: Place, records: list[Record], **storage: object) -> list[Written]:
    half = len(records) // 2
    tasks = [lines_of(records[:half]), lines_of(records[half:])]
    config = StorageConfig(**storage)  # type: ignore[arg-type]
    return [written for lines in tasks for written in write_parts(place.url, config, lines)]


@pytest.mark.parametrize("url", ["{}/out", "memory://spark-out"])
@pytest.mark.parametrize("shard_format", ["jsonl.zst", "parquet"])
def test_files_of_tasks_become_a_corpus_here_and_in_a_store(
    tmp_path: Path, records: list[Record], url: str, shard_format: str
) -> None:
    place = Place(url.format(tmp_path) + shard_format, str(tmp_path / "spool"))
    with Output(place, [], [], []) as output:
        lost = write(place, records)  # a task that ran twice
        written = write(place, records, shard_format=shard_format, shard_max_documents=2)
        with pytest.raises(StorageError, match=r"crawler\.spark\.job.* is at work or was cut off"):
            place.manifest()
        output.stand("c-w", a_run(records), written)
    assert lost and verify(place).damage == []
    kept = [entry["path"] for entry in place.manifest()["files"]]
    assert kept == [f"shards/c-w-{number:06d}.{shard_format}" for number in range(len(written))]
    assert len(kept) > 2
    assert list(Folder(tmp_path / f"out{shard_format}").records() if not place.remote else records) == records
    assert DRAFTS not in place.listing("")
    index = place.listing("index/shards")
    assert index == ([] if place.remote else [f"{path.partition('/')[2]}.parquet" for path in kept])


def test_a_job_that_fails_leaves_nothing_and_one_that_finds_files_touches_none(
    tmp_path: Path, records: list[Record]
) -> None:
    place = Place(str(tmp_path / "out"))
    with pytest.raises(RuntimeError, match="no disk"), Output(place, [], [], []):
        write(place, records)
        raise RuntimeError("no disk")
    assert not (tmp_path / "out").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear miller")
    with (
        pytest.raises(StorageError, match="expected an empty or new folder"),
        Output(Place(str(tmp_path / "mine")), [], [], []),
    ):
        pass
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_source_that_changes_meanwhile_ends_the_job(tmp_path: Path, records: list[Record]) -> None:
    source, place = Place(str(tmp_path / "source")), Place(str(tmp_path / "out"))
    with (
        pytest.raises(StorageError, match="a corpus changed while it was read"),
        Output(place, [source], [], [source]) as output,
    ):
        (tmp_path / "source" / "withdrawals.jsonl").write_text('{"kind":"undo","number":1}\n')
        output.stand("c-w", a_run(records), write(place, records))
    assert not (tmp_path / "out").exists()


def test_what_a_source_withdraws_after_the_job_is_refused_in_its_corpus_too(
    tmp_path: Path, records: list[Record]
) -> None:
    source, place = Place(str(tmp_path / "source")), Place(str(tmp_path / "out"))
    with Output(place, [source], [], [source]) as output:
        output.stand("c-w", a_run(records), write(place, records))
    assert verify(place).damage == []
    assert {run["kind"] for run in place.manifest()["runs"]} == {"crawl", "replay"}
    (parent,) = versions_of(place)[manifest_hash(place)]["parents"]
    assert parent == {"sha256": manifest_hash(source), "place": "../source"}
    wish = ("--url", records[0]["url"], "--reason", "a letter", "--yes")
    assert not answer_of(exclude.WORK, *wish, source.url).problems
    assert [record["url"] for record in Living(place).kept()] == [record["url"] for record in records[1:]]


def test_what_is_read_is_found_and_what_cannot_be_is_said(tmp_path: Path) -> None:
    fill(tmp_path / "source")
    (tmp_path / "a.jsonl").write_text('{"text": "A text.", "url": "https://a.org/"}\n')
    found = inputs_of([], [str(tmp_path / "source"), str(tmp_path / "a.jsonl")], {})
    assert {each.kind for each in found.files} == {"ours", "theirs"} and found.files[-1].kind == "theirs"
    assert found.corpora == (str(tmp_path / "source"),)
    shard = next((tmp_path / "source" / "shards").iterdir())
    with pytest.raises(StorageError, match="give the corpus, which knows what was withdrawn"):
        inputs_of([], [str(shard)], {})
    with pytest.raises(StorageError, match="there is nothing to read"):
        inputs_of([], [], {})
    with pytest.raises(ValueError, match="expected OURS=THEIRS"):
        fields_of(["text=content", "content"])


def test_tables_of_spark_lie_in_the_corpus_or_where_somebody_says() -> None:
    assert work_folder("/data/out", None) == "file:///data/out/.spark/tables"
    assert work_folder("hdfs:///out", None) == "hdfs:///out/.spark/tables"
    assert work_folder("s3://b/out", "hdfs:///tmp").startswith("hdfs:///tmp/spark-")
    with pytest.raises(StorageError, match="with --work"):
        work_folder("s3://b/out", None)
