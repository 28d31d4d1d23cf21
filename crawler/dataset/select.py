"""A subset of a corpus is a corpus of its own; its manifest names the source and the conditions.

Nothing is fetched or judged again, and the source is not changed. The archive stays where it is.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from crawler.dataset.annotations.joined import carry, reader_of
from crawler.dataset.annotations.tables import key_of
from crawler.dataset.living import Living
from crawler.dataset.outside import check_apart
from crawler.dataset.pages import identity
from crawler.dataset.records.fields import OF_RECORD, Field
from crawler.dataset.records.filters import Condition, FilterError, read
from crawler.dataset.rewrite import read_files
from crawler.dataset.withdrawals import covers, inherit, log_hash
from crawler.storage.corpus.manifest import Ledger, makers_of, merge
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.version import manifest_hash, register
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import format_of
from crawler.storage.files.place import ARCHIVE, SHARDS, Place
from crawler.storage.files.records import Record, encode
from crawler.storage.files.shards import ShardWriter
from crawler.storage.types import Entry, Run, Sealed, SelectedFrom
from crawler.times import rfc3339

WRITER = "select"
IDENTITY = ("crawl_id", "worker_id", "url", "crawled_at", "doc_id", "warc_file", "warc_offset")
"""Columns of the index by which `pages.identity` tells one record from another."""
COMMIT_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted; empty means any. `conditions` must all hold. domains: with their subdomains.

    sql: an expression over the columns of `documents` (docs/datasets.md); `chosen` are the records for which it holds
    (`chosen_by`), None without one.
    """

    languages: frozenset[str] = frozenset()
    licences: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    min_quality: float | None = None
    conditions: tuple[Condition, ...] = field(default=())
    sql: str = ""
    chosen: frozenset[bytes] | None = None

    def wants(self, record: Record) -> bool:
        """True for a kept record that belongs to the subset, as far as its own fields say."""
        return (
            (not self.languages or record.get("language") in self.languages)
            and (not self.licences or record.get("license_tag") in self.licences)
            and (not self.domains or record.get("domain") in self.domains or covers(self.domains, record["url"]))
            and (self.min_quality is None or (record.get("quality_score") or 0.0) >= self.min_quality)
            and (self.chosen is None or identity(record) in self.chosen)
        )

    def origin(self, manifest_sha256: str, *, read: int, selected: int) -> SelectedFrom:
        """For the manifest of the subset. read, selected: records."""
        found: SelectedFrom = {
            "manifest_sha256": manifest_sha256,
            "read": read,
            "selected": selected,
            "languages": sorted(self.languages),
            "licences": sorted(self.licences),
            "domains": sorted(self.domains),
            "min_quality": self.min_quality,
            "where": [str(condition) for condition in self.conditions],
        }
        if self.sql:
            found["sql"] = self.sql
        return found


def chosen_by(place: Place, sql: str, *, progress: Callable[[str], object] = lambda _: None) -> frozenset[bytes]:
    """The kept records for which an SQL expression holds, asked of the index; about 100 bytes of memory each.

    Raises: QueryError where it is no expression over the columns of `documents`; StorageError.
    """
    from crawler.dataset.query import query  # late: DuckDB is not needed without it

    check_expression(sql)
    wanted = f"SELECT {', '.join(IDENTITY)} FROM documents WHERE ({sql}\n)"  # noqa: S608  # one expression
    with query(place, wanted, progress=progress) as (columns, rows):
        return frozenset(identity(dict(zip(columns, row, strict=True))) for row in rows)


def check_expression(sql: str) -> None:
    """Raises: QueryError where it is not one SQL expression; StorageError where duckdb is not installed."""
    from crawler.dataset.query import QueryError
    from crawler.dataset.records.database import MISSING

    try:
        import duckdb
    except ImportError:
        raise StorageError(MISSING) from None
    try:
        duckdb.SQLExpression(sql)
    except duckdb.Error as error:
        raise QueryError(
            f"--sql {sql!r}: expected one SQL expression, such as language = 'de' AND word_count > 500 ({error})"
        ) from None


def condition_of(text: str, annotated: dict[str, Field] | None = None) -> Condition:
    """Read one `--where`, such as `word_count>=500 and license_tier=A`. annotated: what it may name beside the fields
    of the record (`annotations.joined.fields_of`). Raises: FilterError.
    """
    try:
        return read(text, OF_RECORD | (annotated or {}))
    except FilterError as error:
        raise FilterError(f"--where {error}; --sql takes an SQL expression") from None


def select(
    source: Place,
    target: Place,
    selection: Selection,
    *,
    max_bytes: int,
    now: float,
    max_documents: int = 0,
    all_versions: bool = False,
) -> Run:
    """Write the subset; answers its run, as the manifest of the new corpus lists it.

    Of a page that was fetched several times the latest record counts, unless `all_versions` asks for older ones, too.
    What the source has withdrawn is left out, and refused by the subset from then on.
    Raises: StorageError where the target is in use, the source is damaged, or no record is wanted: then nothing is
    written. What fails later leaves nothing in a local folder, either.
    """
    target.check_finished()
    if target.listing(""):
        raise StorageError(f"{target.url}: expected an empty or new folder for the subset")
    check_apart(target, source)
    manifest_sha256, asked = manifest_hash(source), log_hash(source)
    files = read_files(source)
    counts = {"read": 0, "selected": 0}
    records = Living(source).kept(all_versions=all_versions)
    documents: set[bytes] = set()
    annotated = reader_of(source, selection.conditions)
    lines = _wanted(records, selection, annotated, counts, documents)
    first = next(lines, None)
    if first is None:
        raise StorageError(f"no document of {counts['read']:,} meets every condition; nothing was written")
    with ExitStack() as stack:
        existed = target.root.exists()
        target.begin("gristmill dataset select")
        stack.callback(take_back, target, existed=existed)
        inherit([(source, manifest_sha256)], target)
        ledger = Ledger(target, WRITER)
        shards = _writer(target, ledger, files, max_bytes, max_documents)
        for number, line in enumerate(chain([first], lines), start=1):
            shards.add(line)
            if number % COMMIT_EVERY == 0:
                shards.commit()
        shards.seal()
        carry(source, target, ledger, documents)
        if log_hash(source) != asked:
            raise StorageError(f"{source.url}: a page was withdrawn meanwhile; run the same command again")
        stack.pop_all()
    run = _run(source, selection, counts, manifest_sha256, now)
    ledger.runs = [*source.manifest()["runs"], run]
    ledger.save()
    merge(target)
    target.finish()
    register(source, live=True)
    register(target, sources={manifest_sha256: source.url})
    return run


def take_back(target: Place, *, existed: bool) -> None:
    """Remove what an operation that failed left in a folder on this machine."""
    if target.remote:
        return
    for path in list(target.root.iterdir()) if existed else [target.root]:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.exists():  # a name below a file is none that could be removed
            path.unlink(missing_ok=True)


def _wanted(
    records: Iterator[Record],
    selection: Selection,
    annotated: Callable[[Record], Record],
    counts: dict[str, int],
    documents: set[bytes],
) -> Iterator[bytes]:
    """documents: gets the keys of those that are wanted."""
    for record in records:
        counts["read"] += 1
        if selection.wants(record) and all(each.holds(annotated(record)) for each in selection.conditions):
            counts["selected"] += 1
            documents.add(key_of(record))
            yield encode(record)


def _writer(target: Place, ledger: Ledger, files: list[Entry], max_bytes: int, max_documents: int) -> ShardWriter:
    def sealed(path: Path, entry: Sealed) -> None:
        target.publish(f"{SHARDS}/{path.name}")
        ledger.add(f"{SHARDS}/{path.name}", entry, makers_of(files))

    return ShardWriter(
        target.root / SHARDS,
        WRITER,
        shard_format=format_of(files[0]["path"]).name,
        max_bytes=max_bytes,
        max_documents=max_documents,
        first_number=0,
        on_seal=sealed,
    )


def _run(source: Place, selection: Selection, counts: dict[str, int], manifest_sha256: str, now: float) -> Run:
    manifest = source.manifest()
    runs = manifest["runs"]
    return {
        "kind": "select",
        "crawl_id": runs[-1]["crawl_id"] if runs else WRITER,
        "worker_id": WRITER,
        "started": rfc3339(now),
        "ended": rfc3339(now),
        "config_digest": runs[-1]["config_digest"] if runs else "",
        "versions": versions(),
        "counters": {},
        "archives": {entry["path"]: entry["sha256"] for entry in manifest["files"] if entry["kind"] == ARCHIVE},
        "selected_from": selection.origin(manifest_sha256, read=counts["read"], selected=counts["selected"]),
    }
