"""What workers have written so far: verdicts counted and the last documents, from ledgers and open journals.

A sealed file is counted by its entry in a ledger; of a journal that is still written each look reads what is new,
whole frames only and never more than `MOST` bytes, so that looking costs the same however long the crawl is.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson

from crawler.dataset.verdicts import visited_again
from crawler.storage.files.journal import PART, zstd_frames
from crawler.storage.files.place import ARCHIVE, FOLDERS, LEDGERS, PAGES, SHARDS, Place
from crawler.storage.types import LedgerFile, Run

MOST = 4 * 2**20
"""Compressed bytes of one journal that one look reads; the next one goes on behind them."""
LAST = 6
"""Documents of each kind that are shown."""
_LARGEST_FRAME = 2**28
"""A journal whose next frame is larger is left at what was read."""
_WORKERS = 50


@dataclass(frozen=True, slots=True)
class Latest:
    """A document with its verdict: "" where it was kept, else "stage/reason"."""

    url: str
    title: str
    verdict: str
    at: str


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker that has not ended its run. silent: seconds since it last wrote a journal or its ledger."""

    name: str
    silent: float


@dataclass(frozen=True, slots=True)
class Written:
    """The corpus so far. rejected: all that was not kept. unread: bytes of journals that later looks will count.

    again: a page may have been visited twice, so that these count visits.
    """

    kept: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    last_kept: tuple[Latest, ...] = ()
    last_rejected: tuple[Latest, ...] = ()
    workers: tuple[Worker, ...] = ()
    unread: int = 0
    again: bool = False


@dataclass(slots=True)
class _Journal:
    """How far one open journal is read, and what was in it."""

    offset: int = 0
    size: int = 0
    at_once: int = MOST
    verdicts: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Ledger:
    """What the ledger of one writer says of its sealed files; `stamp` tells whether it is another one by now."""

    stamp: tuple[int, int]
    verdicts: Counter[str]
    at_work: bool
    runs: list[Run]


class Journals:
    """Reads the files of a local corpus; of a remote one what lies in the spool folder. `clock`: epoch seconds."""

    def __init__(self, place: Place, clock: Callable[[], float] = time.time) -> None:
        self._root, self._clock = place.root, clock
        self._open: dict[Path, _Journal] = {}
        self._ledgers: dict[Path, _Ledger] = {}
        self._last: dict[bool, deque[Latest]] = {True: deque(maxlen=LAST), False: deque(maxlen=LAST)}

    def read(self) -> Written:
        """Where the corpus stands now. A file that vanishes meanwhile was sealed, and is counted by its ledger."""
        self._look_at_ledgers()
        self._look_at_journals()
        verdicts: Counter[str] = Counter()
        for ledger in self._ledgers.values():
            verdicts.update(ledger.verdicts)
        for journal in self._open.values():
            verdicts.update(journal.verdicts)
        kept = verdicts.pop("", 0)
        return Written(
            kept=kept,
            rejected=dict(verdicts.most_common()),
            last_kept=tuple(reversed(self._last[True])),
            last_rejected=tuple(reversed(self._last[False])),
            workers=tuple(self._workers()),
            unread=sum(max(0, journal.size - journal.offset) for journal in self._open.values()),
            again=visited_again(run for ledger in self._ledgers.values() for run in ledger.runs),
        )

    def _look_at_ledgers(self) -> None:
        found = sorted((self._root / LEDGERS).glob("*.json"))
        self._ledgers = {path: known for path, known in self._ledgers.items() if path in found}
        for path in found:
            stamp = _stamp(path)
            if stamp is None or (path in self._ledgers and self._ledgers[path].stamp == stamp):
                continue
            try:
                content: LedgerFile = orjson.loads(path.read_bytes())
                self._ledgers[path] = _Ledger(stamp, _verdicts(content), _is_at_work(content), content["runs"])
            except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
                continue  # replaced this moment, or torn: `dataset verify` speaks of it

    def _look_at_journals(self) -> None:
        folders = [folder for folder in FOLDERS if folder != ARCHIVE]
        paths = [path for folder in folders for path in sorted((self._root / folder).glob(f"*{PART}"))]
        self._open = {path: self._open.get(path, _Journal()) for path in paths}
        for path, journal in self._open.items():
            try:
                self._read(path, journal)
            except OSError:
                journal.size = journal.offset

    def _read(self, path: Path, journal: _Journal) -> None:
        with path.open("rb") as file:
            journal.size = file.seek(0, 2)
            if journal.size < journal.offset:  # cut behind its last whole frame by who came after a dead worker
                journal.offset, journal.verdicts = 0, Counter()
            file.seek(journal.offset)
            data = file.read(journal.at_once)
        taken = 0
        for end, content in zstd_frames(data):
            taken = end
            for line in BytesIO(content):
                self._take(journal, line)
        journal.offset += taken
        if not taken and len(data) == journal.at_once < _LARGEST_FRAME:
            journal.at_once *= 2

    def _take(self, journal: _Journal, line: bytes) -> None:
        try:
            record: dict[str, Any] = orjson.loads(line)
        except orjson.JSONDecodeError:
            return
        verdict = f"{record.get('stage')}/{record['reason']}" if record.get("reason") else ""
        journal.verdicts[verdict] += 1
        url, title = str(record.get("url") or ""), str(record.get("title") or "")
        self._last[not verdict].append(Latest(url, title, verdict, str(record.get("crawled_at") or "")))

    def _workers(self) -> Iterator[Worker]:
        """Workers at work, who wrote last first."""
        now = self._clock()
        latest = {path.stem: path for path, ledger in self._ledgers.items() if ledger.at_work}
        seen = {name: [_modified(path)] for name, path in latest.items()}
        for path in self._open:
            for name, times in seen.items():
                if path.name.startswith(f"{name}-"):
                    times.append(_modified(path))
        order = sorted(seen.items(), key=lambda item: (-max(item[1]), item[0]))
        yield from (Worker(name, max(0.0, now - max(times))) for name, times in order[:_WORKERS])


def _verdicts(content: LedgerFile) -> Counter[str]:
    found: Counter[str] = Counter()
    for entry in content["files"]:
        if entry["kind"] == SHARDS:
            found[""] += entry["documents"]
        elif entry["kind"] in PAGES:
            reasons = entry.get("reasons") or {}
            found.update(reasons)
            found["other/other"] += max(0, entry["documents"] - sum(reasons.values()))
    return +found


def _is_at_work(content: LedgerFile) -> bool:
    return bool(content["runs"]) and content["runs"][-1]["ended"] is None


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _modified(path: Path) -> float:
    stamp = _stamp(path)
    return stamp[0] / 1e9 if stamp else 0.0
