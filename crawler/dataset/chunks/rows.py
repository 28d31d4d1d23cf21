"""A chunk as a row of Parquet: its text and place, then licence and provenance of the page.

The columns are those of `SCHEMA`; a new one comes at the end, and what else changes raises the version.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from crawler.dataset.chunks.cut import Chunk, Cutter
from crawler.dataset.chunks.fragment import Fragments
from crawler.stages.text.words import ruled_by
from crawler.storage.files.columns import arrow
from crawler.storage.files.formats import Add, Format
from crawler.storage.files.records import Record, spans_in

SCHEMA_VERSION = "crawler-chunks/1"
_OWN = {
    "chunk_id": "string", "canonical_url": "string", "doc_id": "string", "start": "int64", "end": "int64",
    "text": "string", "tokens": "int64", "number": "int64", "chunks": "int64", "headings": "list<string>",
    "forms": "list<string>", "link": "string",
}  # fmt: skip
_OF_PAGE = {
    **dict.fromkeys(("url", "domain", "title", "author", "pub_date", "language", "language_script"), "string"),
    "quality_score": "double",
    **dict.fromkeys(("license_tag", "license_tier", "license_reviewer", "license_reviewed", "crawled_at",
                     "first_seen", "last_changed", "content_hash", "document_kind", "extractor", "robots_status",
                     "robots_sha256", "robots_fetched_at"), "string"),
    "noai_checked": "bool", "pii_flag": "bool", "warc_file": "string", "warc_record_id": "string",
    "warc_offset": "int64", "crawl_id": "string", "pipeline_version": "string", "config_digest": "string",
}  # fmt: skip
COLUMNS = _OWN | _OF_PAGE
"""Type of each column, in their order."""
GROUP = 2_000
"""Rows of a row group: what is in memory."""


def rows_of(record: Record, cutter: Cutter) -> list[Record]:
    """The chunks of a kept record, in order; none where it has no text."""
    text, parts = str(record.get("text") or ""), spans_in(record, "parts")
    language = ruled_by(record.get("language"), record.get("language_script"))
    found = cutter.cut(text, parts, language)
    address = record.get("canonical_url") or record["url"]
    page = {name: record.get(name) for name in _OF_PAGE}
    fragments = Fragments(text, [*parts, *spans_in(record, "pii_spans")], language)
    return [
        {
            "chunk_id": f"{record.get('doc_id') or address}:{chunk.start}-{chunk.end}",
            "canonical_url": address,
            "doc_id": record.get("doc_id"),
            "start": chunk.start,
            "end": chunk.end,
            "text": text[chunk.start : chunk.end],
            "tokens": chunk.tokens,
            "number": number,
            "chunks": len(found),
            "headings": _path(record, chunk),
            "forms": list(chunk.forms),
            "link": _link(record, address, fragments, chunk),
            **page,
        }
        for number, chunk in enumerate(found)
    ]


def _path(record: Record, chunk: Chunk) -> list[str]:
    """Title and headings; a heading that only says the title again is left out."""
    title = " ".join(str(record.get("title") or "").split())
    below = chunk.headings[1:] if chunk.headings[:1] == (title,) else chunk.headings
    return [*([title] if title else []), *below]


def _link(record: Record, address: str, fragments: Fragments, chunk: Chunk) -> str | None:
    """Of a web page alone: nothing else has a place that a browser can be led to."""
    named = fragments.of(chunk.start, chunk.end) if record.get("document_kind") == "html" else None
    return None if named is None else f"{address}{named}"


def _schema() -> Any:
    pa = arrow()
    types = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64(), "bool": pa.bool_(),
             "list<string>": pa.list_(pa.string())}  # fmt: skip
    metadata = {"crawler.schema": SCHEMA_VERSION}
    return pa.schema([pa.field(name, types[kind]) for name, kind in COLUMNS.items()], metadata=metadata)


@contextmanager
def _writing(target: IO[bytes], _rejected: bool) -> Iterator[Add]:
    pa, schema, group = arrow(), _schema(), list[Record]()
    with pa.parquet.ParquetWriter(target, schema, compression="zstd", write_page_checksum=True) as writer:

        def flush() -> None:
            if group:
                writer.write_table(pa.Table.from_pylist(group, schema))
                group.clear()

        def add(row: Record, _line: bytes, _number: int) -> None:
            group.append(row)
            if len(group) >= GROUP:
                flush()

        yield add
        flush()


def _feature(kind: str) -> dict[str, Any]:
    return {"list": "string"} if kind.startswith("list") else {"dtype": {"double": "float64"}.get(kind, kind)}


FORMAT = Format(
    "chunks",
    "parquet",
    _writing,
    media_type="application/vnd.apache.parquet",
    features=[{"name": name, **_feature(kind)} for name, kind in COLUMNS.items()],
)
