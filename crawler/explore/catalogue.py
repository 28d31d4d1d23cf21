"""The catalogue answers every question of the pages: a table of all records without their texts, in DuckDB.

It is copied from the corpus' index (`crawler/dataset/record_index.py`), column by column, in a thread, into a temporary
folder; index files that are missing are made first. Once it is built it is opened again read-only, without access to
files and with its configuration locked.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import duckdb
import orjson

from crawler.dataset.record_index import refresh
from crawler.dataset.rewrite import read_files
from crawler.explore.columns import TABLE, selected
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import INDEX, REJECTED, SHARDS, Place, index_path
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_lines, read_records

MEMORY = "512MB"
"""What DuckDB may hold of a catalogue; the rest is read from the temporary folder."""
THREADS = 2
STOP_SECONDS = 5
"""How long the end waits for a build; the index of a shard that is being made is dropped."""
_LINE_BITS = 28
"""A file has at most 2^28 records; the bits above name the file."""
Params = Sequence[Any]


class NotReadyError(RuntimeError):
    """The catalogue is still being built, or building it failed: the message says which."""


class _StoppedError(Exception):
    """Nobody waits for the table any more."""


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
        self._file, self._ready, self._stop = file, threading.Event(), threading.Event()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._thread = threading.Thread(target=self._build, name=f"catalogue {place.url}", daemon=True)

    def start(self) -> None:
        """Begin to build."""
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """True once the build has ended, well or not."""
        return self._ready.wait(seconds)

    def close(self) -> None:
        """End the build and let go of the table."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)
        if self._connection is not None:
            self._connection.close()

    def rows(self, query: str, params: Params = ()) -> list[tuple[Any, ...]]:
        """The answer to one SELECT. Raises: NotReadyError."""
        if self._connection is None:
            raise NotReadyError(self.problem or f"{self.done:,} of {self.total:,} records are read")
        with self._connection.cursor() as cursor:
            return cursor.execute(query, params).fetchall()

    def record(self, key: int) -> tuple[Record, str, int] | None:
        """The whole record of this key, its file and its line (from 1); None where there is none.

        Raises: NotReadyError; StorageError where the file is damaged.
        """
        found = self.rows("SELECT file, line FROM records WHERE id = ?", (key,))
        if not found:
            return None
        (number, line), path = found[0], self.paths[found[0][0]]
        with self.place.open_listed(path) as file:
            content = next(islice(read_lines(file, path), line, None), None)
        if content is None:
            raise StorageError(f"{self.place.path_of(path)}: ends before line {line + 1}; restore it from a copy")
        return orjson.loads(content), self.paths[number], line + 1

    def texts(self, keys: Sequence[int]) -> Iterator[tuple[int, str]]:
        """The texts of these records, in the order in which they lie on the disk.

        Raises: StorageError where a file is damaged.
        """
        wanted: dict[int, dict[int, int]] = {}
        numbers = {high: number for number, high in enumerate(self._keys)}
        for key in keys:
            wanted.setdefault(numbers[key >> _LINE_BITS], {})[key & (1 << _LINE_BITS) - 1] = key
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
            with duckdb.connect(str(self._file), config=_limits()) as connection:
                columns = ", ".join(f'"{name}" {kind}' for name, kind in TABLE.items())
                connection.execute(f"CREATE TABLE records ({columns})")
                self.done = 0
                for number, path in enumerate(self.paths):
                    self._add(connection, number, folder / Path(index_path(path)).relative_to(INDEX))
            self._connection = duckdb.connect(str(self._file), read_only=True, config=_locked())
        except _StoppedError:
            return
        except (StorageError, OSError, duckdb.Error) as error:
            self.problem = str(error)
        finally:
            self._ready.set()

    def _index(self) -> Path:
        """The folder of the index: the corpus' own where it can be written, else one beside the table."""
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

    def _add(self, connection: duckdb.DuckDBPyConnection, number: int, index: Path) -> None:
        self._check_stop()
        source = "read_parquet(?, file_row_number = true)"
        columns = connection.execute(f"DESCRIBE SELECT * FROM {source}", (str(index),)).fetchall()  # noqa: S608
        there = {str(column[0]) for column in columns}
        numbers = {"id": f"{self._keys[number] << _LINE_BITS} + file_row_number", "file": str(number)}
        sql = f"INSERT INTO records {selected(source, there, numbers)}"
        (count,) = connection.execute(sql, (str(index),)).fetchone() or (0,)
        if count != self._listed[number]:
            raise StorageError(
                f"{index}: {count} records instead of the {self._listed[number]} that the manifest lists; delete it, "
                "it is made again"
            )
        self.done += count


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


def _locked() -> dict[str, str | bool | int | float | list[str]]:
    return {**_limits(), "enable_external_access": False, "lock_configuration": True}
