"""Throughput counts the files that a writer has sealed, by folder: bytes, records, time of sealing and of delivery."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from crawler.storage.files.place import FOLDERS
from crawler.storage.types import Sealed


@dataclass(slots=True)
class Totals:
    """What became of one folder since the process started; times in seconds."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    seal_seconds: float = 0.0  # from the journal to the final file
    delivery_seconds: float = 0.0  # from there until the file is in the corpus, listed and indexed


class Throughput:
    """One thread writes it, any other may read `totals`: the folders are there from the start.

    `clock` returns seconds and never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.totals = {folder: Totals() for folder in FOLDERS}
        self._clock = clock
        self._since = clock()

    def begin(self) -> None:
        """Whatever comes next may seal a file."""
        self._since = self._clock()

    def sealed(self, folder: str, entry: Sealed) -> None:
        """A file has its final name; the time since `begin`, or since the file before, was spent on it."""
        totals = self.totals[folder]
        totals.files += 1
        totals.bytes += entry["bytes"]
        totals.records += entry["documents"]
        totals.seal_seconds += self._lap()

    def delivered(self, folder: str) -> None:
        """The file that was sealed last is in the corpus and listed."""
        self.totals[folder].delivery_seconds += self._lap()

    def _lap(self) -> float:
        before, self._since = self._since, self._clock()
        return self._since - before
