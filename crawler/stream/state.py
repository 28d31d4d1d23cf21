"""What a sender has sent: one row a page, and the messages that are on their way, in SQLite.

A message is in the file before it is sent, and leaves it once the server has it: after a death the same messages go out
again, under the same sequences. Of a page the row holds its URL, a digest of the record and the sequence, no text.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crawler.storage.files.errors import StorageError, unwritten
from crawler.storage.files.locks import WriterLock

FILE = "sent.sqlite"
_FORMAT = "gristmill-stream/1"
_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lanes (lane INTEGER PRIMARY KEY, sequence INTEGER, delivered INTEGER, place INTEGER);
CREATE TABLE IF NOT EXISTS pages (key BLOB PRIMARY KEY, url TEXT, digest BLOB, kind TEXT, rank TEXT, lane INTEGER,
    sequence INTEGER, seen INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox (lane INTEGER, sequence INTEGER, key BLOB, kind TEXT, body BLOB,
    PRIMARY KEY (lane, sequence)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (key BLOB, sequence INTEGER, PRIMARY KEY (key, sequence)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS texts_by_sequence ON texts (sequence);
"""


@dataclass(frozen=True, slots=True)
class Sent:
    """What was said last of a page. digest: of its record, then of its content (older versions wrote only the first),
    empty where it is to be sent again, None where it is gone. rank: of the visit; seen: the look that saw it in the
    corpus.
    """

    url: str
    digest: bytes | None
    kind: str
    rank: str
    lane: int
    sequence: int
    seen: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message on its way. erased: its kind deletes older messages of the page."""

    lane: int
    sequence: int
    key: bytes
    kind: str
    body: bytes


class State:
    """The file of one sender. Open one at a time: it is locked.

    Raises: StorageError where it is in use, cannot be written, or belongs to another stream.
    """

    def __init__(self, folder: Path, target: str, corpus: str) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritten(folder, error) from error
        self._lock = WriterLock(folder / "sender.lock")
        if not self._lock.acquire():
            raise StorageError(
                f"{folder}: another `gristmill stream` uses this folder; end it, or name another --state"
            )
        try:
            self._db = sqlite3.connect(folder / FILE, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_TABLES)
            self._db.execute("BEGIN IMMEDIATE")
            self._claim(target, corpus)
        except sqlite3.Error as error:
            self._lock.release()
            raise StorageError(
                f"{folder / FILE}: cannot be used ({error}); remove the folder, and all is sent from the beginning"
            ) from error
        except BaseException:
            self._db.close()
            self._lock.release()
            raise

    def _claim(self, target: str, corpus: str) -> None:
        if self.fact("format") is None:
            for name, value in (("format", _FORMAT), ("target", target), ("corpus", corpus), ("epoch", "0")):
                self.note(name, value)
            self.note("writer", uuid.uuid4().hex)
        for name, value in (("format", _FORMAT), ("target", target), ("corpus", corpus)):
            if (found := self.fact(name)) != value:
                raise StorageError(
                    f"{self.folder}: belongs to {name} {found}, not to {value}; name another folder with --state"
                )

    def close(self) -> None:
        """Keep what was committed, and let others in."""
        self._db.close()
        self._lock.release()

    def commit(self) -> None:
        """Return when everything so far is on the disk."""
        try:
            self._db.execute("COMMIT")
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise StorageError(f"{self.folder / FILE}: cannot be written ({error}); free space on that disk") from error

    # --- facts -------------------------------------------------------------------------------------------------------
    def fact(self, name: str) -> str | None:
        """A fact by name."""
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def note(self, name: str, value: object) -> None:
        """Set a fact."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, str(value)))

    @property
    def writer(self) -> str:
        """The sender's name in every message."""
        return self.fact("writer") or ""

    @property
    def epoch(self) -> int:
        """How often the stream was begun; 0 = not yet."""
        return int(self.fact("epoch") or 0)

    # --- messages ----------------------------------------------------------------------------------------------------
    def next_sequence(self, lane: int) -> int:
        """The next number of a lane, taken."""
        self._db.execute("INSERT OR IGNORE INTO lanes VALUES (?, 0, 0, -1)", (lane,))
        row = self._db.execute(
            "UPDATE lanes SET sequence = sequence + 1 WHERE lane = ? RETURNING sequence", (lane,)
        ).fetchone()
        return int(row[0])

    def delivered(self, lane: int) -> tuple[int, int]:
        """Of a lane: the last sequence that the server has confirmed, and where it lies (-1 = unknown)."""
        row = self._db.execute("SELECT delivered, place FROM lanes WHERE lane = ?", (lane,)).fetchone()
        return (0, -1) if row is None else (int(row[0]), int(row[1]))

    def put(self, waiting: Waiting, *, with_text: bool) -> None:
        """A message that is to be sent."""
        row = (waiting.lane, waiting.sequence, waiting.key, waiting.kind, waiting.body)
        self._db.execute("INSERT INTO outbox VALUES (?, ?, ?, ?, ?)", row)
        if with_text:
            self._db.execute("INSERT INTO texts VALUES (?, ?)", (waiting.key, waiting.sequence))

    def outbox(self) -> list[Waiting]:
        """Messages that were not confirmed, each lane in order."""
        return [Waiting(*row) for row in self._db.execute("SELECT * FROM outbox ORDER BY lane, sequence")]

    def confirm(self, places: dict[int, tuple[int, int]]) -> None:
        """By lane, the last sequence that is there and where it lies: what waits up to it has arrived."""
        for lane, (sequence, place) in places.items():
            self._db.execute("UPDATE lanes SET delivered = ?, place = ? WHERE lane = ?", (sequence, place, lane))
            self._db.execute("DELETE FROM outbox WHERE lane = ? AND sequence <= ?", (lane, sequence))

    def texts_of(self, key: bytes) -> list[int]:
        """Sequences of the messages with a text of the page; they are forgotten here."""
        rows = self._db.execute("DELETE FROM texts WHERE key = ? RETURNING sequence", (key,)).fetchall()
        return sorted(int(row[0]) for row in rows)

    def forget_texts(self, before: int) -> None:
        """The messages before this sequence are not in the stream any more."""
        self._db.execute("DELETE FROM texts WHERE sequence < ?", (before,))

    # --- pages -------------------------------------------------------------------------------------------------------
    def page(self, key: bytes) -> Sent | None:
        """What was said last of a page."""
        columns = "url, digest, kind, rank, lane, sequence, seen"
        row = self._db.execute(f"SELECT {columns} FROM pages WHERE key = ?", (key,)).fetchone()  # noqa: S608
        return None if row is None else Sent(*row)

    def set_page(self, key: bytes, sent: Sent) -> None:
        """What is said of a page from now on."""
        row = (key, sent.url, sent.digest, sent.kind, sent.rank, sent.lane, sent.sequence, sent.seen)
        self._db.execute("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def see(self, key: bytes, look: int) -> None:
        """The page was seen as it was sent."""
        self._db.execute("UPDATE pages SET seen = ? WHERE key = ?", (look, key))

    def unseen(self, look: int) -> Iterator[tuple[bytes, Sent]]:
        """Pages that were sent and that this look has not seen."""
        return self._pages("digest IS NOT NULL AND seen <> ?", look)

    def gone_from(self, sequence: int) -> Iterator[tuple[bytes, Sent]]:
        """Pages whose leaving was told in this message or a later one of its lane."""
        return self._pages("digest IS NULL AND sequence >= ?", sequence)

    def _pages(self, where: str, value: int) -> Iterator[tuple[bytes, Sent]]:
        columns = "key, url, digest, kind, rank, lane, sequence, seen"
        last = b""
        while rows := self._db.execute(
            f"SELECT {columns} FROM pages WHERE key > ? AND {where} ORDER BY key LIMIT 1000",  # noqa: S608
            (last, value),
        ).fetchall():
            for key, *rest in rows:
                yield key, Sent(*rest)
            last = rows[-1][0]

    def send_again(self, sequence: int) -> None:
        """Pages that were sent in this message or a later one of their lane count as not sent as they are now."""
        self._db.execute("UPDATE pages SET digest = x'' WHERE digest IS NOT NULL AND sequence >= ?", (sequence,))

    def clear_outbox(self) -> None:
        """Drop what waits: it is sent again in another way."""
        self._db.execute("DELETE FROM outbox")

    def new_epoch(self, epoch: int) -> None:
        """All is sent from the beginning; what is gone for good stays known."""
        self.clear_outbox()
        self._db.execute("DELETE FROM texts")
        self._db.execute("UPDATE lanes SET delivered = 0, place = -1")
        self.send_again(0)
        self.note("epoch", epoch)
