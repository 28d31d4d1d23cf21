"""Reads what a crawl left behind: records in `shards/` and `rejected/`, lines of a server's access log.

Knows the file formats only, nothing of the code that wrote them: a check of the crawler does not trust the crawler.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import zstandard

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CorpusRecords:
    """Every record of an output folder, in file order."""

    kept: list[Record]
    rejected: list[Record]


@dataclass(frozen=True, slots=True)
class Access:
    """One line of an access log: what one request looked like to the server."""

    time: float  # seconds since the epoch at arrival
    address: str  # host:port
    method: str
    path: str  # with query
    status: int
    user_agent: str

    @property
    def page(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]


def read_corpus(folder: Path) -> CorpusRecords:
    """Read `shards/` and `rejected/` of an output folder.

    Raises: FileNotFoundError where neither exists; ValueError for a line that is not JSON.
    """
    if not any((folder / name).is_dir() for name in ("shards", "rejected")):
        raise FileNotFoundError(f"{folder} has neither shards/ nor rejected/: no crawl wrote here")
    return CorpusRecords(list(records(folder / "shards")), list(records(folder / "rejected")))


def records(folder: Path) -> Iterator[Record]:
    """The records of the files of one folder, in the order of the files' names."""
    for file in sorted(folder.glob("*.jsonl*")):
        with _open(file) as lines:
            yield from (json.loads(line) for line in lines if line.strip())
    for file in sorted(folder.glob("*.parquet")):
        yield from _rows(file)


def _rows(file: Path) -> Iterator[Record]:
    """The records of a Parquet file; objects are JSON text there, and a text that a rejected page lacks is null."""
    from pyarrow import parquet

    for row in parquet.read_table(file).to_pylist():
        for name in ("language_signals", "quality_signals", "render_signals"):
            row[name] = json.loads(row[name] or "null")
        extra = json.loads(row.pop("extra") or "{}")
        left_out = {"title", "description", "author", "text"} if row["text"] is None else set()
        yield {name: value for name, value in row.items() if name not in left_out} | extra


def _open(file: Path) -> IO[str]:
    if file.suffix == ".zst":
        reader = zstandard.ZstdDecompressor().stream_reader(file.open("rb"), read_across_frames=True, closefd=True)
        return io.TextIOWrapper(reader, encoding="utf-8")
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8")
    return file.open(encoding="utf-8")


def read_access_log(file: Path) -> list[Access]:
    """The log's lines ordered by time of arrival."""
    names = Access.__slots__
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    return sorted((Access(**{name: line[name] for name in names}) for line in lines), key=lambda a: a.time)
