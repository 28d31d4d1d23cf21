"""Reads the documents of several corpora and puts what they are compared by into a table on the disk, in their rank.

The rank is the stated rule by which one of several copies stays. Texts are not in the table.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.config import Config
from crawler.dataset.best import rank_of
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.mix.spec import Source
from crawler.dataset.records.database import fill, in_turns
from crawler.dedup.index import Questions
from crawler.dedup.loading import BATCH, IN_FLIGHT, Fingerprint, executor_of, fingerprints
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import suffixes
from crawler.storage.files.place import LEDGERS, MANIFEST
from crawler.storage.files.records import Record

if TYPE_CHECKING:
    import duckdb

CRITERIA: dict[str, tuple[str, str]] = {
    "tier": ("tier", "licence tier A before B before none"),
    "quality": ("quality", "the higher quality_score (to 0.01)"),
    "date": ("date", "the older pub_date"),
    "order": ("source", "the corpus that is named first"),
}
"""What `--keep` may name: how DuckDB orders by it, and in words."""
RULE = ("tier", "quality", "date", "order")
COLUMNS = {
    "source": "BIGINT", "n": "BIGINT", "url": "VARCHAR", "tier": "BIGINT", "quality": "BIGINT", "date": "VARCHAR",
    "digest": "BLOB", "signature": "BLOB", "bands": "BLOB", "needed": "BIGINT",
}  # fmt: skip


def sources_of(names: Sequence[str]) -> tuple[Source, ...]:
    """A corpus (`DIR` or `DIR@N`) unless it is a file of others, or a folder of such files. Raises: StorageError."""
    if twice := [name for name in names if names.count(name) > 1]:
        raise StorageError(f"{twice[0]}: is named twice; every text of it would repeat itself")
    return tuple(_source(name) for name in names)


def _source(name: str) -> Source:
    path = Path(name)
    is_files = name.endswith(suffixes()) or (
        path.is_dir() and not any((path / own).exists() for own in (MANIFEST, LEDGERS))
    )
    return Source(name, None if is_files else name, (name,) if is_files else (), {}, {}, 1.0)


def rule_in_words(keep: Sequence[str]) -> str:
    """The rule as the report and the manifest state it."""
    named = [*keep, *(() if "order" in keep else ("order",))]
    return ", then ".join(CRITERIA[name][1] for name in named)


def take_prints(
    database: duckdb.DuckDBPyConnection,
    sources: Sources,
    counts: Sequence[Counts],
    config: Config,
    *,
    keep: Sequence[str],
    progress: Callable[[int], object] = lambda _: None,
) -> int:
    """Make the table `ranked`: each document with its place, from 0, best first. The number of documents.

    Fingerprints are those of the crawl (`FingerprintStage`), computed in STAGE_WORKERS processes. Raises: StorageError.
    """
    with executor_of(config.crawl.stage_workers) as executor:
        fill(database, "prints", COLUMNS, _rows(executor, sources, counts, config, progress))
    order = ", ".join(CRITERIA[name][0] for name in keep)
    database.execute(
        f"CREATE TABLE ranked AS SELECT row_number() OVER (ORDER BY {order}, source, n) - 1 AS place, * FROM prints"  # noqa: S608
    )
    database.execute("DROP TABLE prints")
    found = database.execute("SELECT count(*) FROM ranked").fetchone()
    return int(found[0]) if found else 0


def _rows(
    executor: Executor,
    sources: Sources,
    counts: Sequence[Counts],
    config: Config,
    progress: Callable[[int], object],
) -> Iterator[tuple[Any, ...]]:
    questions, done = Questions(config.dedup), 0
    for number, counted in enumerate(counts):
        for place, (record, printed) in enumerate(_printed(executor, config, sources.read(number, counted))):
            asked = questions.about(*printed[:3])
            bands = np.array(asked.bands, dtype="<u4").tobytes()
            yield (number, place, *_rank(record), asked.digest, asked.signature, bands, asked.needed)
            done += 1
            if done % BATCH == 0:
                progress(done)


def _rank(record: Record) -> tuple[str, int, int, str]:
    """URL, then what `CRITERIA` orders by."""
    return str(record.get("url") or ""), *rank_of(record)


def _printed(executor: Executor, config: Config, records: Iterable[Record]) -> Iterator[tuple[Record, Fingerprint]]:
    """Each record, without its text, and its fingerprints, in order; a bounded number is read ahead."""
    waiting = deque[tuple[list[Record], Future[list[Fingerprint]]]]()
    for batch in in_turns(records, BATCH):
        texts = [("", record.pop("text")) for record in batch]
        waiting.append((batch, executor.submit(fingerprints, config.dedup, texts)))
        if len(waiting) > IN_FLIGHT:
            some, future = waiting.popleft()
            yield from zip(some, future.result(), strict=True)
    for some, future in waiting:
        yield from zip(some, future.result(), strict=True)
