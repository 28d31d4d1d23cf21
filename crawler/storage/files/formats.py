"""A format says how records stand in a file: lines of JSON, compressed or not, or Parquet.

Another package adds one by the entry-point group `gristmill.formats`: for shards, where it can be read back, and for
exports.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any

import zstandard

from crawler.config.storage import EXPORT_FORMATS, SHARD_FORMATS
from crawler.plugins import added
from crawler.problems import InputError
from crawler.storage.files.columns import card_features
from crawler.storage.files.errors import StorageError
from crawler.storage.files.parquet import ParquetRows, read_json_lines, read_rows
from crawler.storage.files.records import Record

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ZSTD_LEVEL = 6
GZIP_LEVEL = 6
_SUFFIX = re.compile(r"[a-z0-9]+(?:\.[a-z0-9]+)*")

Add = Callable[[Record, bytes, int], object]
"""Takes a record, its JSON line and its number among those of the file or export, from 0."""


@dataclass(frozen=True, slots=True)
class Format:
    """A declared format. Equal records have to give equal bytes: no clock, no name of a machine, one order.

    name: in `SHARD_FORMAT` and `dataset export --to`. suffix: what file names end in, without the first dot. writing:
    `writing(target, rejected)` answers a function that takes each record; what it took is in the open file `target`
    where the block ends well; rejected: of records that have a verdict. reading: the JSON lines of an open file; None:
    for exports only. records: the same as records, where that is quicker. damaged: what reading raises of a damaged
    file, beside OSError and EOFError. media_type: for Croissant. also: other ends of names that it reads.
    In an export: folder; features: columns for the dataset card, None = every reader knows them by itself; index: makes
    the file `index.json` beside the documents from the list of their files, where readers want one.
    """

    name: str
    suffix: str
    writing: Callable[[IO[bytes], bool], AbstractContextManager[Add]]
    reading: Callable[[IO[bytes]], Iterable[bytes]] | None = None
    records: Callable[[IO[bytes]], Iterator[Record]] | None = None
    damaged: tuple[type[Exception], ...] = ()
    media_type: str = "application/octet-stream"
    also: tuple[str, ...] = ()
    folder: str = "data"
    features: list[dict[str, Any]] | None = None
    index: Callable[[list[dict[str, Any]]], bytes] | None = None

    @property
    def pattern(self) -> str:
        """Which files of an export hold the documents."""
        return f"{self.folder}/*.{self.suffix}"

    def path(self, number: int) -> str:
        """The path of a file in an export."""
        return f"{self.folder}/part-{number:06d}.{self.suffix}"


@contextmanager
def zstd_writer(target: IO[bytes]) -> Iterator[Any]:
    """A writer whose output is one frame."""
    with zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).stream_writer(target, closefd=False) as out:
        yield out


@contextmanager
def gzip_writer(target: IO[bytes]) -> Iterator[Any]:
    """A writer whose output is one member without time or name."""
    with gzip.GzipFile(filename="", fileobj=target, mode="wb", compresslevel=GZIP_LEVEL, mtime=0) as out:
        yield out


def lines(compressor: Callable[[IO[bytes]], AbstractContextManager[Any]]) -> Any:
    """`Format.writing` for lines of JSON, compressed."""

    @contextmanager
    def writing(target: IO[bytes], _rejected: bool) -> Iterator[Add]:
        with compressor(target) as out:
            yield lambda _record, line, _number: out.write(line)

    return writing


@contextmanager
def _plain(target: IO[bytes], _rejected: bool) -> Iterator[Add]:
    yield lambda _record, line, _number: target.write(line)


@contextmanager
def _parquet(target: IO[bytes], rejected: bool, more: Iterable[str] = ()) -> Iterator[Add]:
    with ParquetRows(target, rejected=rejected, more=more) as rows:
        yield lambda record, line, _number: rows.add(record, len(line))


_JSON = card_features(as_json=True)
BUILT_IN = {
    one.name: one
    for one in (
        Format("jsonl.zst", "jsonl.zst", lines(zstd_writer), zstd.open, damaged=(zstd.ZstdError,),
               media_type="application/zstd", features=_JSON),
        Format("jsonl.gz", "jsonl.gz", lines(gzip_writer), gzip.open, media_type="application/gzip",
               also=("json.gz",), features=_JSON),
        Format("jsonl", "jsonl", _plain, lambda file: file, media_type="application/jsonlines", features=_JSON),
        Format("parquet", "parquet", _parquet, read_json_lines, read_rows,
               media_type="application/vnd.apache.parquet", features=card_features(as_json=False)),
    )
}  # fmt: skip


def with_columns(form: Format, names: Iterable[str]) -> Format:
    """The format, of records that have further fields of text, which Parquet gives columns of their own."""
    return replace(form, writing=partial(_parquet, more=tuple(names))) if form.writing is _parquet else form


def formats() -> dict[str, Format]:
    """Every format that this room has or another package adds, by name. Raises: StorageError where one is unusable."""
    try:
        others = added("formats", Format, frozenset({*SHARD_FORMATS, *EXPORT_FORMATS}))
    except InputError as error:
        raise StorageError(str(error)) from error
    taken = {suffix for one in BUILT_IN.values() for suffix in (one.suffix, *one.also)} | {"warc.gz", "warc.zst"}
    for one in others.values():
        if not _SUFFIX.fullmatch(one.suffix) or any(f".{one.suffix}".endswith(f".{suffix}") for suffix in taken):
            raise StorageError(f"the format {one.name} has the suffix {one.suffix!r}; expected one that no other has")
        taken.add(one.suffix)
    return BUILT_IN | others


def shard_format(name: str) -> Format:
    """The format that `SHARD_FORMAT` names. Raises: StorageError where nothing reads it back."""
    form = BUILT_IN.get(name) or formats().get(name)
    if form is None or form.reading is None:
        raise StorageError(f"SHARD_FORMAT={name}: no installed package has a format of this name that can be read back")
    return form


def format_of(name: str) -> Format:
    """The format of a file by its name. Raises: StorageError where no installed package has one."""
    form = _ending(name, BUILT_IN) or _ending(name, formats())
    if form is None:
        raise StorageError(f"{name}: no format has files of such a name; install the package that adds it")
    return form


def suffixes() -> tuple[str, ...]:
    """What the names of files end in that can be read, each with its dot."""
    readable = [one for one in formats().values() if one.reading is not None]
    return tuple(f".{suffix}" for one in readable for suffix in (one.suffix, *one.also))


def _ending(name: str, known: dict[str, Format]) -> Format | None:
    ends = ((one, suffix) for one in known.values() if one.reading for suffix in (one.suffix, *one.also))
    return next((one for one, suffix in ends if name.endswith(f".{suffix}")), None)
