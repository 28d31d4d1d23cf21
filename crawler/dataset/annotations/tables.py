"""An annotation file is Parquet: a row a document, keyed by `canonical_url` and `doc_id`, with the job that made it.

`doc_id` is the hash of the text, so a text that changes has no row until somebody makes one. A rejected page has no
text that counts: its rows have the hash of its archived file there (`content_hash`).
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from crawler.dataset.records.database import in_turns
from crawler.problems import InputError
from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk, remove_draft, rename_durably
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record, is_held
from crawler.storage.files.shards import file_facts
from crawler.storage.types import Entry, JobRecord, Sealed

Row = Mapping[str, Any]
"""Keys and values of a document."""
KEYS = ("canonical_url", "doc_id")
ROWS = 1_000
"""Rows in memory at a time: one may hold an embedding of some thousand numbers."""
_ATOMS = ("string", "int64", "double", "float", "bool")
TYPES = (*_ATOMS, *(f"list<{atom}>" for atom in _ATOMS))
"""Types of columns, in words. A float has 32 bits, for embeddings."""


def key_of(row: Row) -> bytes:
    """Stands for the document of a row, or of a record."""
    return hashlib.blake2b(
        f"{row.get('canonical_url')}\n{row.get('doc_id')}".encode("utf-8", "replace"), digest_size=16
    ).digest()


def document_of(record: Record) -> bytes | None:
    """The key of the rows of a record: of its text, or of the archived file of a rejected page; None where it has
    neither. What is held has none until it is released.
    """
    if "reason" not in record:
        return key_of(record)
    if is_held(record) or not (record.get("warc_file") and record.get("content_hash")):
        return None
    return key_of({"canonical_url": record["canonical_url"], "doc_id": record["content_hash"]})


def kind_of_arrow(kind: Any) -> str:
    """The type in words of a column of somebody's Parquet file; what there is no word for is left as Arrow calls it."""
    types = arrow().types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"list<{kind_of_arrow(kind.value_type)}>"
    if types.is_integer(kind):
        return "int64"
    return {"large_string": "string", "halffloat": "float"}.get(str(kind), str(kind))


def _arrow_type(kind: str) -> Any:
    pa = arrow()
    atoms = dict(zip(_ATOMS, (pa.string(), pa.int64(), pa.float64(), pa.float32(), pa.bool_()), strict=True))
    return pa.list_(atoms[kind[5:-1]]) if kind.startswith("list<") else atoms[kind]


def write_table(path: Path, job: JobRecord, rows: Iterable[Row]) -> Sealed:
    """Write a file in one step; its entry for the manifest.

    Raises: StorageError where pyarrow is not installed or the disk fails; InputError where a value is not of its
    column's type.
    """
    pa = arrow()
    kinds = dict.fromkeys(KEYS, "string") | {name: each["type"] for name, each in job["columns"].items()}
    metadata = {"gristmill.job": orjson.dumps(job, option=orjson.OPT_SORT_KEYS).decode()}
    schema = pa.schema([(name, _arrow_type(kind)) for name, kind in kinds.items()], metadata)
    draft, count = path.with_name(f".{path.name}.tmp"), 0
    try:
        with disk(draft):
            path.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as target:
                with pa.parquet.ParquetWriter(target, schema, compression="zstd", write_page_checksum=True) as writer:
                    for some in in_turns(rows, ROWS):
                        writer.write_table(_table(some, schema))
                        count += len(some)
                target.flush()
                os.fsync(target.fileno())
    except BaseException:
        remove_draft(draft)
        raise
    facts = file_facts(draft)
    rename_durably(draft, path)
    return {
        "sha256": facts["sha256"],
        "bytes": facts["bytes"],
        "documents": count,
        "first_crawled_at": None,
        "last_crawled_at": None,
        "job": job,
    }


def _table(rows: list[Row], schema: Any) -> Any:
    pa = arrow()
    for row in rows:
        if strange := row.keys() - set(schema.names):
            raise InputError([f"{row['canonical_url']}: no column is called {sorted(strange)[0]!r}"])
    try:
        return pa.Table.from_pylist(rows, schema=schema)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        urls = f"{rows[0]['canonical_url']} to {rows[-1]['canonical_url']}"
        raise InputError([f"rows of {urls}: a value is not of the type of its column ({error})"]) from None


def read_table(place: Place, path: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a listed file, or some columns of them. Raises: StorageError where it is damaged or not there."""
    pa = arrow()
    try:
        with place.open_listed(path) as file:
            source = pa.parquet.ParquetFile(file, page_checksum_verification=True, pre_buffer=False)
            for batch in source.iter_batches(ROWS, columns=None if columns is None else list(columns)):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise StorageError(f"{place.path_of(path)}: cannot be read ({error}); restore it from a copy") from error


def name_of(path: str) -> str:
    """The annotation that a listed file belongs to."""
    return path.split("/")[1]


def annotation_files(entries: Iterable[Entry]) -> list[Entry]:
    """The files of annotations among those of a manifest."""
    return [entry for entry in entries if "job" in entry]


def orphans(place: Place, files: Iterable[Entry], documents: set[bytes]) -> dict[str, int]:
    """How many rows of each annotation are of none of these documents. Raises: StorageError as `read_table`."""
    found = Counter[str]()
    for entry in files:
        found[name_of(entry["path"])] += sum(key_of(r) not in documents for r in read_table(place, entry["path"], KEYS))
    return dict(+found)
