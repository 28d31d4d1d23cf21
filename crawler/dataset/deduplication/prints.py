"""Reads the documents of some sources and puts what they are compared by into tables on the disk, in their rank.

The rank is the stated rule by which one of several copies stays. Texts are not in the tables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.config import Config
from crawler.dataset.best import rank_of
from crawler.dataset.mix.sources import Counts, Sources
from crawler.dataset.mix.spec import Source
from crawler.dataset.pages import page_key
from crawler.dataset.records.database import fill, in_turns
from crawler.dedup.index import Questions
from crawler.dedup.loading import BATCH, IN_FLIGHT, Fingerprint, executor_of, fingerprints
from crawler.dedup.rounds import TEXTS, bucket_keys
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
    "order": ("source", "the source that is named first"),
}
"""What `--keep` may name: how DuckDB orders by it, and in words."""
RULE = ("tier", "quality", "date", "order")
COLUMNS = {
    "id": "BIGINT", "source": "BIGINT", "n": "BIGINT", "url": "VARCHAR", "page": "BLOB", "crawled": "VARCHAR",
    "tier": "BIGINT", "quality": "BIGINT", "date": "VARCHAR",
    "digest": "BLOB", "signature": "BLOB", "bands": "BIGINT[]", "needed": "BIGINT",
}  # fmt: skip
"""Of the table `prints`. id: from 0, in the order of the sources; n: of the document in its source, from 0; page: its
key, none where it has no URL; crawled: RFC 3339, empty where it is not known."""


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
    return Source(name, None if is_files else name, (name,) if is_files else (), {}, {}, 1.0, is_named=False)


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
    band_bits: int = 32,
    progress: Callable[[int], object] = lambda _: None,
) -> None:
    """Make the tables `prints`, `replaced` (id, standing: of older versions of a page) and `texts` of the others.

    Of a page the text that was fetched last counts, in whatever source; which of its copies, the rule says. The ord of
    `texts` is the place of a document, from 0, best first; `places` (id, ord) has the same. A document there is its own
    owner: a copy of it is one, also where it is of the same page. Fingerprints are those of the crawl
    (`FingerprintStage`), computed in STAGE_WORKERS processes. Raises: StorageError.
    """
    with executor_of(config.crawl.stage_workers) as executor:
        read = (sources.read(number, counted) for number, counted in enumerate(counts))
        records = ((number, n, record) for number, some in enumerate(read) for n, record in enumerate(some))
        questions = Questions(config.dedup, band_bits=band_bits)
        printed = _printed(executor, config, records)
        fill(database, "prints", COLUMNS, _rows(printed, questions, band_bits, progress))
    order = ", ".join(CRITERIA[name][0] for name in keep)
    database.execute(_REPLACED)
    database.execute(
        f"CREATE TABLE places AS SELECT id, row_number() OVER (ORDER BY {order}, id) - 1 AS ord "  # noqa: S608
        "FROM prints ANTI JOIN replaced USING (id)"
    )
    named = ", ".join(TEXTS)
    database.execute(f"CREATE TABLE texts AS SELECT {named} FROM ({_TEXTS})")  # noqa: S608


_REPLACED = """
CREATE TABLE replaced AS
WITH repeated AS (SELECT page FROM prints WHERE page IS NOT NULL GROUP BY page HAVING count(*) > 1),
versions AS (
    SELECT id, digest, first_value(digest) OVER latest AS counts, first_value(id) OVER latest AS standing
    FROM prints SEMI JOIN repeated USING (page) WINDOW latest AS (PARTITION BY page ORDER BY crawled DESC, id)
)
SELECT id, standing FROM versions WHERE digest <> counts
"""
_TEXTS = "SELECT ord, ord::VARCHAR AS owner, digest, signature, bands, needed FROM prints JOIN places USING (id)"


_Read = tuple[int, int, Record]
"""Number of the source, number of the document in it, and the document."""


def _rows(
    printed: Iterable[tuple[_Read, Fingerprint]],
    questions: Questions,
    band_bits: int,
    progress: Callable[[int], object],
) -> Iterator[tuple[Any, ...]]:
    for number, ((source, n, record), prints) in enumerate(printed):
        asked = questions.about(*prints[:3])
        bands = bucket_keys(asked.bands, band_bits=band_bits)
        yield (number, source, n, *_facts(record), asked.digest, asked.signature, bands, asked.needed)
        if number % BATCH == 0:
            progress(number)


def _facts(record: Record) -> tuple[Any, ...]:
    """URL, page and time of the visit, then what `CRITERIA` orders by."""
    page = page_key(record) if record.get("url") or record.get("canonical_url") else None
    return str(record.get("url") or ""), page, str(record.get("crawled_at") or ""), *rank_of(record)


def _printed(executor: Executor, config: Config, read: Iterable[_Read]) -> Iterator[tuple[_Read, Fingerprint]]:
    """Each record, without its text, and its fingerprints, in order; a bounded number is read ahead."""
    waiting = deque[tuple[list[_Read], Future[list[Fingerprint]]]]()
    for batch in in_turns(read, BATCH):
        texts = [("", record.pop("text")) for _, _, record in batch]
        waiting.append((batch, executor.submit(fingerprints, config.dedup, texts)))
        if len(waiting) > IN_FLIGHT:
            some, future = waiting.popleft()
            yield from zip(some, future.result(), strict=True)
    for some, future in waiting:
        yield from zip(some, future.result(), strict=True)
