"""One row for each image that a page names: img2dataset's columns, then ours, in Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from crawler.images.ledger import Fate
from crawler.images.outcomes import KEPT, meaning, status_of
from crawler.images.references import Reference
from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError

Row = dict[str, Any]
GROUP = 2_000
"""Rows of a row group: what is in memory."""
TEXTS = ("alt", "caption", "title", "context")
"""Columns with words of the page: empty where the image is not kept."""
_SIGNAL = ("protocol", "carrier", "value", "verdict")
_FILE = ("url", "protocol", "sha256", "fetched_at")
_WORDS = ("url", "key", "status", "error_message", "caption", "exif", "sha256", "outcome", "page_url", "doc_id", "alt",
          "title", "context", "language", "licence", "licence_tier", "final_url", "fetched_at", "original_sha256",
          "pdq", "made", "robots_status", "robots_sha256", "robots_fetched_at", "canonical_url",
          "classifier_scores", "page_classifier_scores")  # fmt: skip
_NUMBERS = ("width", "height", "original_width", "original_height", "index", "offset", "http_status", "pdq_quality")
_LISTS = {"optout_signals": _SIGNAL, "page_optout_signals": _SIGNAL, "control_files": _FILE}


def row_of(one: Reference, fate: Fate | None, outcome: str, detail: str, key: str = "") -> Row:
    """Everything about one reference. key: of its sample; empty where there is none."""
    facts = fate.facts if fate is not None and outcome == KEPT else {}
    kept = outcome == KEPT
    row: Row = {
        "url": one.url, "key": key or None, "status": status_of(outcome),
        "error_message": None if kept else f"{outcome}: {detail or meaning(outcome)}",
        "caption": one.caption if kept else None, "exif": facts.get("exif") or None,
        "sha256": facts.get("sha256"), "width": facts.get("width"), "height": facts.get("height"),
        "original_width": facts.get("original_width"), "original_height": facts.get("original_height"),
        "outcome": outcome, "page_url": one.page_url, "canonical_url": one.page_url, "doc_id": one.doc_id,
        "alt": one.alt if kept else None, "title": one.title if kept else None,
        "context": one.context if kept else None, "index": one.index, "offset": one.offset, "language": one.language,
        "licence": one.licence, "licence_tier": one.licence_tier,
        "original_sha256": facts.get("original_sha256"), "pdq": facts.get("pdq"), "pdq_quality": facts.get("quality"),
        "classifier_scores": _json(one.scores), "page_classifier_scores": _json(one.page_scores),
        "made": facts.get("made") or None, "page_optout_signals": _named(one.signals, _SIGNAL),
    }  # fmt: skip
    return row | _evidence(fate)


def _json(scores: dict[str, float]) -> str | None:
    return orjson.dumps(scores, option=orjson.OPT_SORT_KEYS).decode() if scores else None


def _evidence(fate: Fate | None) -> Row:
    if fate is None:
        fields = ("final_url", "fetched_at", "http_status", "robots_status", "robots_sha256", "robots_fetched_at")
        return {**dict.fromkeys(fields), "optout_signals": [], "control_files": []}
    return {
        "final_url": fate.url, "fetched_at": fate.time, "http_status": fate.status or None,
        "robots_status": fate.robots_status or None, "robots_sha256": fate.robots_sha256,
        "robots_fetched_at": fate.robots_fetched_at, "optout_signals": _named(fate.signals, _SIGNAL),
        "control_files": _named(fate.files, _FILE),
    }  # fmt: skip


def _named(values: list[list[str]], names: tuple[str, ...]) -> list[dict[str, str]]:
    return [dict(zip(names, value, strict=True)) for value in values]


def without_text(row: Row, outcome: str) -> Row:
    """The same row as a decision: no sample, no word of the page."""
    gone = ("key", "sha256", "original_sha256", "pdq", "exif", *TEXTS)
    said = {"outcome": outcome, "status": status_of(outcome), "error_message": f"{outcome}: {meaning(outcome)}"}
    return row | dict.fromkeys(gone) | said


def _schema() -> Any:
    pa = arrow()
    columns = [(name, pa.string()) for name in _WORDS] + [(name, pa.int64()) for name in _NUMBERS]
    columns += [(n, pa.list_(pa.struct([(part, pa.string()) for part in parts]))) for n, parts in _LISTS.items()]
    order = {name: place for place, name in enumerate(row_names())}
    return pa.schema(sorted(columns, key=lambda column: order[column[0]]))


def row_names() -> list[str]:
    """The columns in their order: first those that img2dataset has."""
    first = ["url", "key", "status", "error_message", "caption", "width", "height", "original_width",
             "original_height", "exif", "sha256"]  # fmt: skip
    return first + [name for name in (*_WORDS, *_NUMBERS, *_LISTS) if name not in first]


def write_rows(path: Path, rows: Iterator[Row], schema: Any = None) -> int:
    """Rows to one file; how many. schema: None = that of these rows. Raises: StorageError where pyarrow is not
    installed.
    """
    pa, schema, count, group = arrow(), schema or _schema(), 0, list[Row]()
    with pa.parquet.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
        for row in rows:
            group.append(row)
            count += 1
            if len(group) >= GROUP:
                writer.write_table(pa.Table.from_pylist(group, schema))
                group.clear()
        writer.write_table(pa.Table.from_pylist(group, schema))
    return count


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of one file. Raises: StorageError where it is damaged."""
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(batch_size=GROUP):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise StorageError(f"{path}: cannot be read ({error}); restore it from a copy") from error
