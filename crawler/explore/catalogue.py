"""The catalogue answers every question of the pages: a view of all records without their texts, in DuckDB.

The view reads the Parquet files of the corpus' index (`crawler/dataset/record_index.py`) where they lie: a question
reads the columns that it names, and nothing is copied. A thread makes index files that are missing first. DuckDB may
read these files and no other, and its configuration is locked.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import duckdb
import orjson

from crawler.dataset.record_index import refresh
from crawler.dataset.rewrite import read_files
from crawler.explore.columns import selected
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import INDEX, REJECTED, SHARDS, Place, index_path
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_lines, read_records

MEMORY = "512MB"
"""What DuckDB may hold for a catalogue; what a question needs beyond it goes to a temporary folder."""
THREADS = 2
STOP_SECONDS = 5
"""How long the end waits for a build, and for questions; the index of a shard that is being made is dropped."""
_LINE_BITS = 28
"""A file has at most 2^28 records; the bits above name the file."""
_CHANGED = "the index has changed since it was opened; end `scrapy explore` and start it again"
Params = Sequence[Any] | Mapping[str, Any]


class NotReadyError(RuntimeError):
    """The catalogue is still being built, or building it failed: the message says which."""


class _StoppedError(Exception):
    """Nobody waits for the catalogue any more."""


class Catalogue:
    """The records of one corpus. `done` of `total` records are read; `problem` says why the build has failed.

    crawling: a crawl may be at work, which has not sealed anything yet; that is a `problem` then.
    Raises: StorageError where there is no corpus, or no sealed file and no crawl.
    """

    def __init__(self, place: Place, file: Path, *, crawling: bool = False) -> None:
        self.place = place
        entries = read_files(place, (SHARDS, REJECTED))
        nothing = f"{place.url}: no sealed file yet; files are sealed when a crawl ends, or when they are full"
        if not entries and not crawling:
            raise StorageError(nothing)
        self.paths = [entry["path"] for entry in entries]
        self._listed = [entry["documents"] for entry in entries]
        self.total, self.done, self.problem = sum(self._listed), 0, "" if entries else nothing
        self._keys = _keys_of(self.paths)
        self._numbers = {key: number for number, key in enumerate(self._keys)}
        self._file, self._ready, self._stop = file, threading.Event(), threading.Event()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._asked, self._asking = threading.Condition(), 0
        self._thread = threading.Thread(target=self._build, name=f"catalogue {place.url}", daemon=True)

    def start(self) -> None:
        """Begin to build."""
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """True once the build has ended, well or not."""
        return self._ready.wait(seconds)

    def close(self) -> None:
        """End the build and let go of the index."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)
        with self._asked:
            connection, self._connection = self._connection, None
            idle = self._asked.wait_for(lambda: not self._asking, STOP_SECONDS)
        if connection is not None and idle:  # DuckDB refuses to close what is being asked; that ends with the process
            connection.close()

    def rows(self, query: str, params: Params = ()) -> list[tuple[Any, ...]]:
        """The answer to one SELECT. Raises: NotReadyError; StorageError where the index is not what it was."""
        with self._cursor() as cursor:
            try:
                return cursor.execute(query, params).fetchall()
            except (duckdb.IOException, duckdb.PermissionException) as error:  # the latter: a file that is gone
                raise StorageError(f"{self.place.url}: {_CHANGED} ({str(error)[:200]})") from error

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._asked:
            if (connection := self._connection) is None:
                raise NotReadyError(self.problem or f"{self.done:,} of {self.total:,} records are read")
            cursor = connection.cursor()
            self._asking += 1
        try:
            with cursor:
                yield cursor
        finally:
            with self._asked:
                self._asking -= 1
                self._asked.notify_all()

    def record(self, key: int) -> tuple[Record, str, int] | None:
        """The whole record of this key, its file and its line (from 1); None where there is none.

        Raises: NotReadyError; StorageError where the file is damaged.
        """
        if self._connection is None:
            self.rows("")
        number, line = self._numbers.get(key >> _LINE_BITS, -1), key & (1 << _LINE_BITS) - 1
        if number < 0 or line >= self._listed[number]:
            return None
        path = self.paths[number]
        with self.place.open_listed(path) as file:
            content = next(islice(read_lines(file, path), line, None), None)
        if content is None:
            raise StorageError(f"{self.place.path_of(path)}: ends before line {line + 1}; restore it from a copy")
        return orjson.loads(content), path, line + 1

    def texts(self, keys: Sequence[int]) -> Iterator[tuple[int, str]]:
        """The texts of these records, in the order in which they lie on the disk.

        Raises: StorageError where a file is damaged.
        """
        wanted: dict[int, dict[int, int]] = {}
        for key in keys:
            wanted.setdefault(self._numbers[key >> _LINE_BITS], {})[key & (1 << _LINE_BITS) - 1] = key
        for number in sorted(wanted):
            lines = wanted[number]
            for line, record in enumerate(read_records(self.place, self.paths[number])):
                if line in lines:
                    yield lines.pop(line), str(record.get("text") or "")
                    if not lines:
                        break

    def _build(self) -> None:
        try:
            if self.problem:
                return
            folder = self._index()
            self._check_stop()
            names = [Path(index_path(path)).relative_to(INDEX) for path in self.paths]
            self._connection = self._viewing([folder.resolve() / name for name in names])
            self.done = self.total
        except _StoppedError:
            return
        except (StorageError, OSError, duckdb.Error) as error:
            self.problem = str(error)
        finally:
            self._ready.set()

    def _index(self) -> Path:
        """The folder of the index: the corpus' own where it can be written, else one in the temporary folder."""
        own = self.place.root / INDEX
        local = not self.place.remote and os.access(own if own.is_dir() else self.place.root, os.W_OK)
        folder = own if local else self._file.with_suffix(".index")
        before = dict(zip(self.paths, accumulate(self._listed, initial=0), strict=False))

        def reads(path: str) -> None:
            self._check_stop()
            self.done = before.get(path, self.done)

        refresh(self.place, folder, progress=reads)
        return folder

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise _StoppedError

    def _viewing(self, files: list[Path]) -> duckdb.DuckDBPyConnection:
        """A connection with the view `records` over these index files, closed to everything else."""
        connection = duckdb.connect(":memory:", config=_limits())
        try:
            _check_counts(connection, dict(zip(map(str, files), self._listed, strict=True)))
            numbered = enumerate(zip(files, self._keys, strict=True))
            rows = [(str(path), n, key << _LINE_BITS) for n, (path, key) in numbered]
            connection.execute("CREATE TABLE index_files (filename VARCHAR, number INTEGER, first BIGINT)")
            connection.executemany("INSERT INTO index_files VALUES (?, ?, ?)", rows)
            source = f"read_parquet({_list_of(files)}, union_by_name = true, filename = true, file_row_number = true)"
            columns = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
            there, place = {str(column[0]) for column in columns}, {"id": "first + file_row_number", "file": "number"}
            chosen = selected(f"{source} JOIN index_files USING (filename)", there, place)
            connection.execute(f"CREATE VIEW records AS {chosen}")
            _lock(connection, files, self._file.with_suffix(".spill"))
        except (duckdb.Error, StorageError):
            connection.close()
            raise
        return connection


def _check_counts(connection: duckdb.DuckDBPyConnection, listed: dict[str, int]) -> None:
    """Raises: StorageError where an index file has not as many records as the manifest lists (path -> count)."""
    sql = f"SELECT file_name, num_rows FROM parquet_file_metadata({_list_of(listed)})"  # noqa: S608  # quoted
    for path, count in connection.execute(sql).fetchall():
        if count != listed[str(path)]:
            raise StorageError(
                f"{path}: {count} records instead of the {listed[str(path)]} that the manifest lists; delete it, "
                "it is made again"
            )


def _list_of(files: Iterable[Path | str]) -> str:
    return f"[{', '.join(map(_quoted, files))}]"


def _quoted(text: Path | str) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _keys_of(paths: list[str]) -> list[int]:
    """A number for each file that stays when files are added: what stands in a link of a document."""
    keys: list[int] = []
    for path in paths:
        key = int.from_bytes(hashlib.blake2b(path.encode(), digest_size=4).digest()) >> 1
        while key in keys:
            key += 1
        keys.append(key)
    return keys


def _limits() -> dict[str, str | bool | int | float | list[str]]:
    return {
        "memory_limit": MEMORY,
        "threads": THREADS,
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
    }


def _lock(connection: duckdb.DuckDBPyConnection, files: list[Path], spill: Path) -> None:
    """From here on it reads these files, writes what does not fit into memory, and nothing else."""
    for name, value in (
        ("parquet_metadata_cache", "true"),
        ("temp_directory", _quoted(spill)),
        ("autoload_known_extensions", "false"),
        ("allowed_paths", _list_of(files)),
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
    ):
        connection.execute(f"SET {name} = {value}")
