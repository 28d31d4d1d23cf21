"""The catalogue answers every question of the pages: a view of all records without their texts, in DuckDB.

The view (`crawler/dataset/records/view.py`) reads the Parquet files of the corpus' index where they lie: a question
reads the columns that it names, and nothing is copied. A thread makes index files that are missing first.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import duckdb
import orjson

from crawler.dataset.annotations.joined import fields_of, tables_of
from crawler.dataset.annotations.listed import annotations_in
from crawler.dataset.records.fields import FIELDS
from crawler.dataset.records.view import LINE_BITS, keys_of, open_view
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.rewrite import read_files
from crawler.number import number_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ANNOTATIONS, INDEX, PAGES, Place
from crawler.storage.files.record_index import refresh
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_lines, read_records

MEMORY = "512MB"
"""What DuckDB may hold for a catalogue; what a question needs beyond it goes to a temporary folder."""
THREADS = 2
STOP_SECONDS = 5
"""How long the end waits for a build, and for questions; the index of a shard that is being made is dropped."""
_CHANGED = "the index has changed since it was opened; end `gristmill explore` and start it again"
Params = Sequence[Any] | Mapping[str, Any]


class NotReadyError(RuntimeError):
    """The catalogue is still being built, or building it failed: the message says which."""


class _StoppedError(Exception):
    """Nobody waits for the catalogue any more."""


class Catalogue:
    """The records of one corpus. `done` of `total` records are read; `problem` says why the build has failed.

    fields: what a filter may name. crawling: a crawl may be at work, which has not sealed anything yet; that is a
    `problem` then.
    Raises: StorageError where there is no corpus, or no sealed file and no crawl.
    """

    def __init__(self, place: Place, file: Path, *, crawling: bool = False) -> None:
        self.place, self._crawling = place, crawling
        self.is_changing = False  # whoever makes a version sets it: files that are gone are no fault then
        self._opened, self._opening = 0, threading.Lock()
        self._open(file)

    def _open(self, file: Path) -> None:
        place, crawling = self.place, self._crawling
        self._entries = entries = read_files(place, PAGES)
        nothing = f"{place.url}: no sealed file yet; files are sealed when a crawl ends, or when they are full"
        if not entries and not crawling:
            raise StorageError(nothing)
        self._annotated, self._refused = read_files(place, (ANNOTATIONS,)), refusals_of([place])
        self.fields = FIELDS | fields_of(place)
        self.paths = [entry["path"] for entry in entries]
        self._listed = [entry["documents"] for entry in entries]
        self.total, self.done, self.problem = sum(self._listed), 0, "" if entries else nothing
        self._numbers = {key: number for number, key in enumerate(keys_of(self.paths))}
        self._file, self._ready, self._stop = file, threading.Event(), threading.Event()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._asked, self._asking = threading.Condition(), 0
        self._thread = threading.Thread(target=self._build, name=f"catalogue {place.url}", daemon=True)

    def start(self) -> None:
        """Begin to build."""
        self._thread.start()

    def reopen(self) -> None:
        """Read the version that stands now, from the start. Raises: StorageError."""
        self.close()
        self._opened += 1
        self._open(self._file.with_name(f"{self._file.stem}-{self._opened}{self._file.suffix}"))
        self.start()

    @property
    def is_empty(self) -> bool:
        """True while a crawl has sealed nothing yet: there is nothing to show but the crawl itself."""
        return not self._entries

    def look_again(self) -> None:
        """Open what a crawl has sealed since nothing was there. Raises: StorageError."""
        with self._opening:
            if self.is_empty and read_files(self.place, PAGES):
                self.reopen()

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
                if self.is_changing:
                    raise NotReadyError("a new version of the corpus is being opened") from error
                raise StorageError(f"{self.place.url}: {_CHANGED} ({str(error)[:200]})") from error

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._asked:
            if (connection := self._connection) is None:
                raise NotReadyError(self.problem or f"{self.done:,} of {number_of(self.total, 'record')} are read")
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
        """The whole record of this key, its file and its line (from 1); None where there is none, or it is hidden.

        Raises: NotReadyError; StorageError where the file is damaged.
        """
        if self._connection is None:
            self.rows("")
        number, line = self._numbers.get(key >> LINE_BITS, -1), key & (1 << LINE_BITS) - 1
        if number < 0 or line >= self._listed[number]:
            return None
        path = self.paths[number]
        with self.place.open_listed(path) as file:
            content = next(islice(read_lines(file, path), line, None), None)
        if content is None:
            raise StorageError(f"{self.place.path_of(path)}: ends before line {line + 1}; restore it from a copy")
        record = orjson.loads(content)
        return None if self._refused.hides(record) else (record, path, line + 1)

    def annotations(self, key: int) -> list[tuple[str, str, Any]]:
        """Name with column, meaning and value of what is annotated to the record of this key. Raises: as `rows`."""
        if not (known := annotations_in(self._annotated)):
            return []
        names = ", ".join(each.name for each in known)
        found = self.rows(f"SELECT {names} FROM records WHERE id = ?", (key,))  # noqa: S608  # checked when written
        return [
            (f"{each.name}.{name}", column["meaning"], row[name])
            for each, row in zip(known, *found, strict=True)
            for name, column in each.columns.items()
            if row[name] is not None
        ]

    def texts(self, keys: Sequence[int]) -> Iterator[tuple[int, str]]:
        """The texts of these records, in the order in which they lie on the disk.

        Raises: StorageError where a file is damaged.
        """
        wanted: dict[int, dict[int, int]] = {}
        for key in keys:
            wanted.setdefault(self._numbers[key >> LINE_BITS], {})[key & (1 << LINE_BITS) - 1] = key
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
            spill = self._file.with_suffix(".spill")
            beside = tables_of(self.place, self._annotated, self._file.with_suffix(".beside"))
            self._connection = open_view(
                self._entries,
                folder,
                spill,
                beside,
                memory=MEMORY,
                threads=THREADS,
                refused=self._refused,
            )
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
