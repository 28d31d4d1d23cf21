"""The catalogue answers every question of the pages: a table of all records without their texts, in DuckDB.

It is built from the sealed files of a corpus, in a thread, into a temporary folder; the corpus is only read. Once it is
built it is opened again read-only, without access to files and with its configuration locked.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import orjson

from crawler.dataset.rewrite import read_files
from crawler.explore.columns import TABLE, row_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import REJECTED, SHARDS, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_lines, read_records

MEMORY = "512MB"
"""What DuckDB may hold of a catalogue; the rest is read from the temporary folder."""
THREADS = 2
BATCH = 20_000
"""Records a batch of the build."""
_LINE_BITS = 28
"""A file has at most 2^28 records; the bits above name the file."""
Params = Sequence[Any]


class NotReadyError(RuntimeError):
    """The catalogue is still being built, or building it failed: the message says which."""


class Catalogue:
    """The records of one corpus. `done` of `total` records are read; `problem` says why the build has failed.

    Raises: StorageError where there is no corpus or no sealed file.
    """

    def __init__(self, place: Place, file: Path) -> None:
        self.place = place
        entries = read_files(place, (SHARDS, REJECTED))
        if not entries:
            raise StorageError(
                f"{place.url}: no sealed file yet; files are sealed when a crawl ends, or when they are full"
            )
        self.paths = [entry["path"] for entry in entries]
        self._listed = [entry["documents"] for entry in entries]
        self.total, self.done, self.problem = sum(self._listed), 0, ""
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
            self._thread.join()
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
            with duckdb.connect(str(self._file), config=_limits()) as connection:
                columns = ", ".join(f'"{name}" {kind}' for name, kind in TABLE.items())
                connection.execute(f"CREATE TABLE records ({columns})")
                for number, path in enumerate(self.paths):
                    self._add(connection, number, path)
                    if self._stop.is_set():
                        return
            self._connection = duckdb.connect(str(self._file), read_only=True, config=_locked())
        except (StorageError, OSError, duckdb.Error) as error:
            self.problem = str(error)
        finally:
            self._ready.set()

    def _add(self, connection: duckdb.DuckDBPyConnection, number: int, path: str) -> None:
        high, before = self._keys[number] << _LINE_BITS, self.done
        records = enumerate(read_records(self.place, path))
        batch = self._file.with_suffix(".ndjson")
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in TABLE.items())
        read = f"read_json(?, format = 'newline_delimited', columns = {{{columns}}})"
        while lines := [
            orjson.dumps({"id": high | line, "file": number, "line": line, **row_of(record)})
            for line, record in islice(records, BATCH)
        ]:
            batch.write_bytes(b"\n".join(lines))
            connection.execute(f"INSERT INTO records SELECT * FROM {read}", (str(batch),))  # noqa: S608  # our names
            batch.unlink()
            self.done += len(lines)
            if self._stop.is_set():
                return
        if self.done - before != self._listed[number]:
            raise StorageError(
                f"{self.place.path_of(path)}: {self.done - before} records instead of the {self._listed[number]} that "
                f"the manifest lists; `scrapy dataset verify {self.place.url}` says more"
            )


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
    return {"memory_limit": MEMORY, "threads": THREADS, "autoinstall_known_extensions": False}


def _locked() -> dict[str, str | bool | int | float | list[str]]:
    return {**_limits(), "enable_external_access": False, "lock_configuration": True}
