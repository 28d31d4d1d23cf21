"""The rounds of `crawler/dedup/rounds.py` over made documents, measured in a process of their own."""

from __future__ import annotations

import asyncio
import pickle
import resource
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.scale import documents
from bench.scale.documents import Made
from bench.scale.files import read
from crawler.config import from_mapping
from crawler.dataset.records.database import connect, fill, rows_of
from crawler.dedup.index import Questions, similarity
from crawler.dedup.memory_index import MemoryIndex
from crawler.dedup.rounds import TEXTS, bucket_keys, find_gone
from crawler.dedup.rounds_duckdb import DuckTables

CONFIG = from_mapping({}).dedup
KINDS = {"mixed": documents.mixed, "template": documents.template, "chain": documents.chain}
MADE, STORED = "made.pickle", "texts.parquet"
"""The documents as they were made, and the table `texts` of them."""
Found = dict[int, tuple[str, float, bool]]


def store(kind: str, count: int, folder: Path, files: Path | None = None) -> int:
    """Make the documents and put them into the table `texts` of a database; answers how many. files: their folder."""
    made = KINDS[kind](count) if files is None else read(files, count)
    (folder / MADE).write_bytes(pickle.dumps(made))
    with connect(folder / "rounds.duckdb", folder) as database:
        fill(database, "texts", TEXTS, _rows(made))
        database.execute(f"COPY texts TO '{folder / STORED}' (FORMAT parquet)")
    return len(made)


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


def differing(folder: Path, others: Mapping[str, Path]) -> dict[str, Any]:
    """How many verdicts are not those of the index, and the CPU seconds that the index took. others: further answers,
    in Parquet, by name.
    """
    made: list[Made] = pickle.loads((folder / MADE).read_bytes())  # our own, of this run
    before = time.process_time()
    expected = asyncio.run(_as_the_index(made))
    took = {"index_cpu_seconds": round(time.process_time() - before, 1)}
    with connect(folder / "rounds.duckdb", folder) as database:
        found = {"differ": _found(made, database, "gone")}
        found |= {f"{name}_differ": _found(made, database, f"'{out}/*.parquet'") for name, out in others.items()}
    return {name: _apart(answers, expected) for name, answers in found.items()} | took


def _found(made: list[Made], database: Any, source: str) -> Found:
    width, found = Questions(CONFIG).scheme.permutations, Found()
    answer = database.execute(f"SELECT ord, owned_by, exact, agreeing FROM {source}")  # ours
    for number, by, exact, agreed in rows_of(answer):
        found[number] = (made[by].owner, 1.0 if exact else similarity(agreed, width), exact)
    return found


def _apart(found: Found, expected: Found) -> int:
    return sum(found.get(number) != expected.get(number) for number in found.keys() | expected.keys())


async def _as_the_index(made: list[Made]) -> Found:
    index, found = MemoryIndex(CONFIG), {}
    for place, each in enumerate(made):
        if (match := await index.check(*each)) is not None:
            found[place] = (match.owner, match.similarity, match.exact)
    return found
