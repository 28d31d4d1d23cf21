"""A folder of chunks for retrieval, derived of a corpus as an export is: Parquet with a manifest `chunks.json`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from crawler.dataset.chunks import Chunk, Measure, chunks, fragment_url
from crawler.dataset.export import Filling, draft_beside, put, settle_version
from crawler.dataset.living import WITHDRAWN, Living
from crawler.dataset.mix.spec import Tokenizer
from crawler.dataset.mix.tokens import counter
from crawler.dataset.registry.derived import CHUNKS
from crawler.dataset.withdrawals import log_hash
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.columns import SCHEMA_VERSION, arrow
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import Add, Format
from crawler.storage.files.journal import indented
from crawler.storage.files.parquet import LEVEL
from crawler.storage.files.place import Place
from crawler.storage.files.records import Record
from crawler.times import rfc3339

CHUNKS_FORMAT = "crawler-chunks/1"
GROUP_ROWS = 2_000
OF_RECORD = (
    "doc_id", "url", "canonical_url", "domain", "title", "language", "document_kind", "license_tag", "license_tier",
    "pub_date", "crawled_at", "crawl_id", "warc_file", "warc_record_id", "warc_offset", "pipeline_version",
    "config_digest",
)  # fmt: skip
"""Columns that a chunk has from its record, as they are there."""


@dataclass(frozen=True, slots=True)
class Chunked:
    """What a folder of chunks holds. withdrawn: records that were left out for that reason; tokens_by: the measure."""

    documents: int
    chunks: int
    files: int
    withdrawn: int
    tokens_by: str


def chunk_corpus(
    place: Place,
    out: Path,
    *,
    size: int,
    overlap: int,
    tokenizer: Path | None,
    max_bytes: int,
    now: float,
    progress: Callable[[int], object] = lambda _: None,
) -> Chunked:
    """Write the chunks of the living documents of a corpus to the folder `out`.

    size, overlap: tokens. tokenizer: a `tokenizer.json`; None: four bytes of UTF-8 are a token. max_bytes: of chunks as
    JSON in one file. now: seconds since the epoch. progress: called with the number of chunks. Memory: one record and
    one row group. Raises: StorageError as `export`, and where the tokenizer cannot be read.
    """
    arrow()
    tokens_by, measure = _measure(tokenizer)
    before, asked = manifest_hash(place), log_hash(place)
    with ExitStack() as stack:
        draft, living = draft_beside(out, stack), Living(place)
        filling = Filling(draft, Format("chunks", "parquet", _writing), max_bytes, progress)
        documents: list[int] = [0]
        filling.fill(_rows(living, measure, size, overlap, documents))
        if manifest_hash(place) != before or log_hash(place) != asked:
            raise StorageError(f"{place.url}: the corpus changed while it was read; run the same command again")
        withdrawn, manifest = living.left_out[WITHDRAWN], place.manifest()
        counts = {"read": living.read, "documents": documents[0], "chunks": filling.written, "withdrawn": withdrawn}
        lineage = {
            "format": CHUNKS_FORMAT,
            "tokens": size,
            "overlap": overlap,
            "tokens_by": tokens_by,
            "schema": SCHEMA_VERSION,
            "time": rfc3339(now),
            "source": {
                "manifest_sha256": before,
                "version": manifest.get("version", 1),
                "crawls": manifest["crawls"],
                "config_digests": manifest["config_digests"],
            },
            "versions": versions(),
            "counts": counts,
            "files": filling.files,
        }
        put(draft / CHUNKS, indented(lineage))
        settle_version(draft, out, CHUNKS, {before: place.url}, now=now)
    return Chunked(documents[0], filling.written, len(filling.files), withdrawn, tokens_by)


def _measure(tokenizer: Path | None) -> tuple[str, Measure]:
    if tokenizer is None:
        return "four bytes of UTF-8 a token", lambda text: -(-len(text.encode("utf-8", "replace")) // 4)
    said, count = counter(Tokenizer("tokenizers", tokenizer))
    return said, lambda text: count([{"text": text}])[0]


def _rows(living: Living, measure: Measure, size: int, overlap: int, documents: list[int]) -> Iterator[Record]:
    for record in living.kept():
        documents[0] += 1
        for chunk in chunks(record, measure, size=size, overlap=overlap):
            yield row_of(record, chunk)


def row_of(record: Record, chunk: Chunk) -> Record:
    """A chunk as its row says it."""
    headings = dict.fromkeys(filter(None, (record.get("title"), *chunk.headings)))
    named = f"{record.get('canonical_url') or record['url']}\n{record.get('doc_id')}\n{chunk.start}\n{chunk.end}"
    return {
        "chunk_id": f"sha256:{hashlib.sha256(named.encode()).hexdigest()}",
        "start": chunk.start,
        "end": chunk.end,
        "text": record["text"][chunk.start : chunk.end],
        "tokens": chunk.tokens,
        "heading_path": list(headings),
        "part_types": list(chunk.types),
        "fragment_url": fragment_url(record, chunk),
        **{name: record.get(name) for name in OF_RECORD},
    }


def schema() -> Any:
    """The columns of the files."""
    pa = arrow()
    numbers, lists = ("start", "end", "tokens"), ("heading_path", "part_types")
    fields = [("chunk_id", pa.string()), *((name, pa.int64()) for name in numbers), ("text", pa.string())]
    fields += [(name, pa.list_(pa.string())) for name in lists] + [("fragment_url", pa.string())]
    fields += [(name, pa.int64() if name == "warc_offset" else pa.string()) for name in OF_RECORD]
    return pa.schema(fields, metadata={"crawler.schema": str(SCHEMA_VERSION), "crawler.chunks": CHUNKS_FORMAT})


@contextmanager
def _writing(target: IO[bytes], _rejected: bool) -> Iterator[Add]:
    pa, columns = arrow(), schema()
    rows: list[Record] = []
    with pa.parquet.ParquetWriter(
        target, columns, compression="zstd", compression_level=LEVEL, write_page_checksum=True
    ) as writer:

        def flush() -> None:
            if not rows:
                return
            try:
                table = pa.Table.from_pylist(rows, schema=columns)
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                urls = f"{rows[0].get('url')} to {rows[-1].get('url')}"
                raise StorageError(f"records of {urls}: a field is not of its column's type ({error})") from error
            writer.write_table(table)
            rows.clear()

        def add(record: Record, _line: bytes, _number: int) -> None:
            rows.append(record)
            if len(rows) >= GROUP_ROWS:
                flush()

        yield add
        flush()
