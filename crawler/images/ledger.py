"""What became of each image that was asked for: one durable line each, so that nothing is asked twice after a death.

The last line about an image counts. The bytes of those that are kept lie beside it until they are in a tar.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from crawler.images.outcomes import KEPT, LICENCE_EXPIRED, OFF_SCOPE, UNREACHABLE, WAITING, WITHDRAWN
from crawler.storage.corpus.answer_lines import cut_torn_line
from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk, sync_folder, write_synced

Signals = list[list[str]]
"""[protocol, carrier, value, verdict] each."""


@dataclass(slots=True)
class Fate:
    """One image. name: its canonical URL. outcome: a name of `outcomes.py`; detail: what decided.

    url: where the bytes came from, redirects followed. time: RFC 3339. status: of HTTP, 0: no answer. robots_status,
    robots_sha256, robots_fetched_at, signals, files: the evidence, of the last host asked; files: [URL, protocol,
    sha256, time] each. facts: of a kept one, as of `Decoded` without bytes.
    """

    name: str
    outcome: str
    detail: str = ""
    url: str = ""
    time: str = ""
    status: int = 0
    redirects: list[str] = field(default_factory=list)
    robots_status: str = ""
    robots_sha256: str | None = None
    robots_fetched_at: str | None = None
    signals: Signals = field(default_factory=list)
    files: list[list[str]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def is_final(self) -> bool:
        """False where the same command asks again; what allowlist or guard refused before any request costs none."""
        if not self.redirects and (self.outcome in {OFF_SCOPE, LICENCE_EXPIRED} or self.outcome.startswith("guard")):
            return False
        return self.outcome.partition(":")[0] not in {WAITING, UNREACHABLE, "hold", WITHDRAWN}


_FIELDS = frozenset(Fate.__dataclass_fields__)


class Ledger:
    """Lines of `path`. One process writes; `files` is the folder of the bytes that wait for a tar."""

    def __init__(self, path: Path, files: Path) -> None:
        self.path, self._files = path, files
        self._file: Any = None
        self._lock = threading.Lock()  # several threads add, one at a time

    def read(self) -> dict[str, Fate]:
        """Every fate by name. A line that a death left unfinished is none. Raises: StorageError."""
        return {fate.name: fate for fate in self._lines()} if self.path.exists() else {}

    def _lines(self) -> Iterator[Fate]:
        with disk(self.path), self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    content = orjson.loads(line)
                    yield Fate(**{name: content[name] for name in _FIELDS})
                except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                    raise StorageError(
                        f"{self.path}: line {number} is damaged; restore the file from a copy, or remove it: then all "
                        "images that are in no tar yet are asked for again"
                    ) from error

    def add(self, fate: Fate, data: bytes = b"") -> None:
        """Note it durably; its bytes first. Raises: StorageError."""
        with self._lock:
            if fate.outcome == KEPT:
                self.put(fate.facts["sha256"], data)
            with disk(self.path):
                if self._file is None:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    self._file = self.path.open("ab+", buffering=0)
                    cut_torn_line(self._file)
                self._file.write(orjson.dumps(fate, option=orjson.OPT_APPEND_NEWLINE))
                os.fsync(self._file.fileno())

    def put(self, sha256: str, data: bytes) -> None:
        """Keep the bytes of an image until they are in a tar. Raises: StorageError."""
        path = self.place_of(sha256)
        with disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.part")
            write_synced(part, data)
            part.replace(path)
            sync_folder(path.parent)

    def place_of(self, sha256: str) -> Path:
        """Where its bytes are while they wait."""
        return self._files / sha256[:2] / sha256

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
