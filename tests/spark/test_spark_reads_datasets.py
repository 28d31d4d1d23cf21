"""Spark reads what a corpus and its exports hold, with nothing of this project beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.dataset.export import export
from tests.support.three_domains import Folder, fill

READ = """
import json, sys
from pyspark.sql import SparkSession
kind, pattern = sys.argv[1:]
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
read = spark.read.parquet(pattern) if kind == "parquet" else spark.read.json(pattern)
print(json.dumps([row.asDict(recursive=True) for row in read.collect()], default=str))
"""
"""Runs in a process of its own: a table as Spark sees it."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two corpora of the same records, one in each SHARD_FORMAT, and exports of the first."""
    folder = tmp_path_factory.mktemp("spark-reads")
    fill(folder / "corpus")
    fill(folder / "columns", SHARD_FORMAT="parquet")
    for to in ("parquet", "jsonl.gz", "dolma"):
        export(Folder(folder / "corpus").place, folder / to, to, max_bytes=6_000, now=1.8e9)
    return folder


def as_spark_sees(kind: str, pattern: Path) -> list[dict[str, object]]:
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", READ, kind, str(pattern)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return found


def plain(record: dict[str, object]) -> dict[str, object]:
    """What can be compared without a schema: texts, numbers, truth values."""
    return {name: value for name, value in record.items() if isinstance(value, str | int | float)}


@pytest.mark.parametrize("place", ["parquet/data/*.parquet", "jsonl.gz/data/*.jsonl.gz", "columns/shards/*.parquet"])
@pytest.mark.usefixtures("spark_installed")
def test_spark_reads_every_record_with_every_value(made: Path, place: str) -> None:
    folder = made / place.partition("/")[0]
    expected = {r["url"]: r for r in Folder(made / "corpus").records()}
    kind = "parquet" if place.endswith("parquet") else "json"
    found = {str(row["url"]): row for row in as_spark_sees(kind, made / place)}
    assert found.keys() == expected.keys()
    own = {"doc_id", "warc_file", "warc_record_id", "warc_offset", "crawled_at"} if folder.name == "columns" else set()
    for url, record in expected.items():
        wanted = {name: value for name, value in plain(record).items() if name not in own}
        assert {name: found[url][name] for name in wanted} == wanted


@pytest.mark.usefixtures("spark_installed")
def test_spark_reads_dolmas_format(made: Path) -> None:
    expected = {r["url"]: (r["doc_id"], r["text"]) for r in Folder(made / "corpus").records()}
    rows = as_spark_sees("json", made / "dolma" / "documents" / "*.jsonl.gz")
    assert {row["metadata"]["url"]: (row["id"], row["text"]) for row in rows} == expected
