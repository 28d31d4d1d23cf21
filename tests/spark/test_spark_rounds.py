"""Spark's rounds give the verdicts, owners and similarities of the index, however the data lies."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from pathlib import Path

import pytest

from bench.scale import documents
from bench.scale.documents import Made
from crawler.config import from_mapping
from crawler.dedup.index import Questions, similarity
from crawler.dedup.memory_index import MemoryIndex
from crawler.dedup.rounds import bucket_keys, find_gone
from crawler.spark.session import spark_context, spark_session
from crawler.spark.tables import TEXTS, SparkTables

CONFIG = from_mapping({}).dedup
WIDTH = Questions(CONFIG).scheme.permutations


@pytest.fixture(scope="module")
def session(spark_installed):
    before = os.environ.copy()
    with spark_context("local[2]") as context:
        yield spark_session(context)
    os.environ.clear()
    os.environ.update(before)


def remove(path: str) -> None:
    shutil.rmtree(path)


def as_the_index(made: list[Made]) -> dict[int, tuple[str, float, bool]]:
    async def ask():
        index, found = MemoryIndex(CONFIG), {}
        for place, each in enumerate(made):
            if (match := await index.check(*each)) is not None:
                found[place] = (match.owner, match.similarity, match.exact)
        return found

    return asyncio.run(ask())


def rows_of(made: list[Made]) -> list[tuple]:
    questions, rows = Questions(CONFIG), []
    for place, each in enumerate(made):
        asked = questions.about(*each[:3])
        rows.append((place, each.owner, asked.digest, asked.signature, bucket_keys(asked.bands), asked.needed))
    return rows


@pytest.mark.parametrize(("partitions", "block"), [(2, 100), (5, 10_000)])
def test_made_documents_of_every_kind_get_the_verdicts_of_the_index(session, tmp_path: Path, partitions, block):
    made = documents.mixed(900, 4, drift=20)
    rows = rows_of(made)
    random.Random(partitions).shuffle(rows)
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    tables = SparkTables(session, str(tmp_path / "work"), remove)
    tables.put("texts", session.createDataFrame(session.sparkContext.parallelize(rows, partitions), TEXTS))
    seen: list[int] = []
    count = find_gone(tables, block=block, progress=seen.append)
    answer = session.sql("SELECT ord, owned_by, exact, agreeing FROM gone").collect()
    found = {
        row.ord: (made[row.owned_by].owner, 1.0 if row.exact else similarity(row.agreeing, WIDTH), row.exact)
        for row in answer
    }
    assert found == as_the_index(made) and count == len(found) > 200
    assert (len(seen) > 2) is (block == 100)
    left = {path.name.rpartition("-")[0] for path in (tmp_path / "work").iterdir()}
    assert left == {"texts", "gone"}
