"""Spark reads what a corpus and its exports hold, with nothing of this project beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crawler.dataset.export import export
from tests.support.three_domains import Folder, fill

READ = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
found = {}
for pattern in sys.argv[1:]:
    read = spark.read.parquet(pattern) if pattern.endswith("parquet") else spark.read.json(pattern)
    found[pattern] = [row.asDict(recursive=True) for row in read.collect()]
print(json.dumps(found, default=str))
"""
"""Runs in a process of its own: the rows of tables as Spark sees them."""
PLACES = ["parquet/data/*.parquet", "jsonl.gz/data/*.jsonl.gz", "columns/shards/*.parquet"]
DOLMAS = "dolma/documents/*.jsonl.gz"

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two corpora of the same records, one in each SHARD_FORMAT, and exports of the first."""
    folder = tmp_path_factory.mktemp("spark-reads")
    fill(folder / "corpus")
    fill(folder / "columns", SHARD_FORMAT="parquet")
    for to in ("parquet", "jsonl.gz", "dolma"):
        export(Folder(folder / "corpus").place, folder / to, to, max_bytes=6_000, now=1.8e9)
    return folder


@pytest.fixture(scope="module")
def as_spark_sees(spark_installed: None, made: Path) -> dict[str, Rows]:
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", READ, *(str(made / place) for place in [*PLACES, DOLMAS])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Rows] = json.loads(done.stdout.splitlines()[-1])
    return {str(Path(pattern).relative_to(made)): rows for pattern, rows in found.items()}


def plain(record: dict[str, object]) -> dict[str, object]:
    """What can be compared without a schema: texts, numbers, truth values."""
    return {name: value for name, value in record.items() if isinstance(value, str | int | float)}


@pytest.mark.parametrize("place", PLACES)
def test_spark_reads_every_record_with_every_value(made: Path, as_spark_sees: dict[str, Rows], place: str) -> None:
    folder = made / place.partition("/")[0]
    expected = {r["url"]: r for r in Folder(made / "corpus").records()}
    found = {str(row["url"]): row for row in as_spark_sees[place]}
    assert found.keys() == expected.keys()
    own = {"doc_id", "warc_file", "warc_record_id", "warc_offset", "crawled_at"} if folder.name == "columns" else set()
    for url, record in expected.items():
        wanted = {name: value for name, value in plain(record).items() if name not in own}
        assert {name: found[url][name] for name in wanted} == wanted


def test_spark_reads_dolmas_format(made: Path, as_spark_sees: dict[str, Rows]) -> None:
    expected = {r["url"]: (r["doc_id"], r["text"]) for r in Folder(made / "corpus").records()}
    rows = as_spark_sees[DOLMAS]
    assert {row["metadata"]["url"]: (row["id"], row["text"]) for row in rows} == expected
