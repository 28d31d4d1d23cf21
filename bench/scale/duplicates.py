"""The rounds of `crawler/dedup/rounds.py` over made documents, measured in a process of their own."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.scale import documents
from bench.scale.documents import Made
from crawler.config import from_mapping
from crawler.dataset.records.database import connect, fill, rows_of
from crawler.dedup.index import Questions, similarity
from crawler.dedup.memory_index import MemoryIndex
from crawler.dedup.rounds import TEXTS, bucket_keys, find_gone
from crawler.dedup.rounds_duckdb import DuckTables

CONFIG = from_mapping({}).dedup
KINDS = {"mixed": documents.mixed, "template": documents.template, "chain": documents.chain}
Found = dict[int, tuple[str, float, bool]]


def store(kind: str, count: int, folder: Path) -> None:
    """Make the documents and put them into the table `texts` of a database."""
    made = KINDS[kind](count)
    with connect(folder / "rounds.duckdb", folder) as database:
        fill(database, "texts", TEXTS, _rows(made))


def _rows(made: list[Made]) -> Iterator[tuple[Any, ...]]:
    questions = Questions(CONFIG)
    for place, each in enumerate(made):
        asked = questions.about(*each[:3])
        yield place, each.owner, asked.digest, asked.signature, bucket_keys(asked.bands), asked.needed


def rounds(folder: Path) -> dict[str, Any]:
    """Find the duplicates; what it took: CPU and wall seconds, MiB, and how many were undecided in each round."""
    undecided: list[int] = []
    began = time.monotonic()
    before = time.process_time()
    with connect(folder / "rounds.duckdb", folder, threads=2) as database:
        gone = find_gone(DuckTables(database), progress=undecided.append)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    took = {"cpu_seconds": round(time.process_time() - before, 1), "seconds": round(time.monotonic() - began, 1)}
    return {"duplicates": gone, **took, "peak_mib": memory, "undecided": undecided}


def differing(kind: str, count: int, folder: Path) -> dict[str, Any]:
    """How many verdicts are not those of the index, and the CPU seconds that the index took."""
    made, width = KINDS[kind](count), Questions(CONFIG).scheme.permutations
    found: Found = {}
    with connect(folder / "rounds.duckdb", folder) as database:
        answer = database.execute("SELECT ord, owned_by, exact, agreeing FROM gone")
        for number, by, exact, agreed in rows_of(answer):
            found[number] = (made[by].owner, 1.0 if exact else similarity(agreed, width), exact)
    before = time.process_time()
    expected = asyncio.run(_as_the_index(made))
    wrong = sum(found.get(place) != expected.get(place) for place in range(count))
    return {"differ": wrong, "index_cpu_seconds": round(time.process_time() - before, 1)}


async def _as_the_index(made: list[Made]) -> Found:
    index, found = MemoryIndex(CONFIG), {}
    for place, each in enumerate(made):
        if (match := await index.check(*each)) is not None:
            found[place] = (match.owner, match.similarity, match.exact)
    return found
