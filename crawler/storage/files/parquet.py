"""Parquet turns lines of records into columns and back: the sealed form of a shard under SHARD_FORMAT=parquet.

zstd, dictionaries, statistics and page checksums; a row group ends after a fixed number of bytes or records, so the
bytes of a file depend on its records (and on the version of pyarrow, which each file names) alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any, Self

from crawler.storage.files.arrays import table_of
from crawler.storage.files.columns import EXTRA, arrow, arrow_schema, kind_of, record_of_row, row_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import Record, encode

GROUP_BYTES = 32 * 2**20
"""Of records as JSON in one row group: what writing and reading one needs in memory is a small multiple."""
GROUP_ROWS = 20_000
BATCH_ROWS = 200
"""Rows that a reader turns into records at a time."""
LEVEL = 6


class ParquetRows:
    """Writes records to one open file, in a `with` block: its end writes the footer that makes the file Parquet.

    more: names of further columns, of text, behind the others.
    After an exception the file is of no use; the writer lets go of it before it is closed.
    """

    def __init__(
        self,
        target: IO[bytes],
        *,
        rejected: bool,
        without: Iterable[str] = (),
        more: Iterable[str] = (),
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self._pa = arrow()
        schema = arrow_schema(rejected=rejected, without=without)
        for name in more:
            schema = schema.append(self._pa.field(name, self._pa.string()))
        self._schema = schema.with_metadata({**schema.metadata, **(metadata or {})})
        self._names = [name for name in self._schema.names if name != EXTRA]
        self._without = frozenset(without)
        self._writer = self._pa.parquet.ParquetWriter(
            target, self._schema, compression="zstd", compression_level=LEVEL, write_page_checksum=True,
            write_statistics=True, use_dictionary=[n for n in self._names if n != "text" and "<" not in kind_of(n)],
        )  # fmt: skip
        self._rows: list[Record] = []
        self._bytes = 0

    def add(self, record: Record, size: int) -> None:
        """Take one record; size: its bytes as JSON. Raises: StorageError where a field has another type."""
        self._rows.append(row_of({n: v for n, v in record.items() if n not in self._without}, self._names))
        self._bytes += size
        if self._bytes >= GROUP_BYTES or len(self._rows) >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            try:
                table = table_of(self._pa, self._rows, self._schema)
            except (self._pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                urls = f"{self._rows[0].get('url')} to {self._rows[-1].get('url')}"
                raise StorageError(f"records of {urls}: a field is not of its column's type ({error})") from error
            self._writer.write_table(table, row_group_size=len(self._rows))
        self._rows, self._bytes = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if kind is None:
                self._flush()
                self._writer.close()
        finally:
            if self._writer.is_open:  # else its finaliser writes to a closed file
                with suppress(Exception):
                    self._writer.close()
                self._writer.is_open = False


def read_rows(file: IO[bytes]) -> Iterator[Record]:
    """The records of a Parquet file that `ParquetRows` wrote, in order, a few at a time.

    Raises: StorageError where it is damaged, or of another schema.
    """
    pa = arrow()
    try:
        source = pa.parquet.ParquetFile(file, page_checksum_verification=True, pre_buffer=False)
        _check_columns(source)
        for batch in source.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
            yield from map(record_of_row, batch.to_pylist())
    except (pa.ArrowException, OSError) as error:
        raise StorageError(f"not Parquet that can be read to its end ({error}); restore it from a copy") from error


def read_json_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The same records as the JSON lines they were made of."""
    return map(encode, read_rows(file))


def _check_columns(source: Any) -> None:
    metadata = source.schema_arrow.metadata or {}
    if b"crawler.schema" not in metadata:
        raise StorageError("a Parquet file without crawler.schema in its metadata is not a shard of this project")
