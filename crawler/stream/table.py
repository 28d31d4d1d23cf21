"""The table of a consumer: one row a page, in DuckDB, always what the messages that were read so far say.

Rows and the position in the stream are written in one transaction: after a death the same messages are read again, and
none counts twice. `content` says what was embedded: a row in which it is the same needs no embedding again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from crawler.stream.message import BEGIN, COMPLETE, FOR_GOOD, RESUME, Message, StreamError

_TABLES = """
CREATE TABLE IF NOT EXISTS pages (key VARCHAR PRIMARY KEY, lane INTEGER, epoch BIGINT, sequence BIGINT, version INTEGER,
    time VARCHAR, record VARCHAR, reference VARCHAR, content VARCHAR);
ALTER TABLE pages ADD COLUMN IF NOT EXISTS content VARCHAR;
CREATE TABLE IF NOT EXISTS positions (lane INTEGER PRIMARY KEY, epoch BIGINT, sequence BIGINT, place VARCHAR,
    lacks VARCHAR);
"""
_UPSERT = """
INSERT INTO pages SELECT unnest(?::VARCHAR[]), unnest(?::INTEGER[]), unnest(?::BIGINT[]), unnest(?::BIGINT[]),
    unnest(?::INTEGER[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),
    unnest(?::VARCHAR[])
ON CONFLICT (key) DO UPDATE SET lane = excluded.lane, epoch = excluded.epoch, sequence = excluded.sequence,
    version = excluded.version, time = excluded.time, record = excluded.record, reference = excluded.reference,
    content = excluded.content
"""
_WITHDRAW = "DELETE FROM pages WHERE key = ? AND lane = ? AND (epoch, sequence) < (?, ?)"
Excused = Callable[[Message, range], bool]
"""Whether the messages of these sequences before one are missing because their pages were withdrawn."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a lane is read. epoch, sequence: of the last message that counts; place: where the transport goes on;
    lacks: what is missing, so that nothing counts until the stream begins or resumes; "" = nothing."""

    epoch: int = 0
    sequence: int = 0
    place: str = ""
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message, and where the transport goes on behind it. lost: what is missing before it; "" = nothing known."""

    message: Message
    place: str
    lost: str = ""


class Table:
    """The table in one file. Raises: StreamError where DuckDB is not installed or the file is in use."""

    def __init__(self, path: Path) -> None:
        try:
            import duckdb  # late: only consumers need it
        except ImportError:
            raise StreamError("duckdb: not installed; run pip install 'gristmill[explore]'") from None
        try:
            self._db: Any = duckdb.connect(str(path))
        except duckdb.Error as error:
            raise StreamError(f"{path}: cannot be opened as a DuckDB database ({error}); name another file") from None
        self._db.execute("SET enable_progress_bar = false")  # not at the opening: others may have the file open
        self._db.execute(_TABLES)

    def close(self) -> None:
        """Let others in."""
        self._db.close()

    def positions(self) -> dict[int, Position]:
        """How far each lane is read."""
        rows = self._db.execute("SELECT lane, epoch, sequence, place, lacks FROM positions").fetchall()
        return {row[0]: Position(*row[1:]) for row in rows}

    def pages(self) -> dict[str, tuple[str | None, str | None]]:
        """Record and reference, as JSON, by canonical URL."""
        rows = self._db.execute("SELECT key, record, reference FROM pages").fetchall()
        return {key: (record, reference) for key, record, reference in rows}

    def count(self) -> int:
        """Pages in the table."""
        return int(self._db.execute("SELECT count(*) FROM pages").fetchone()[0])

    def take(self, arrived: Iterable[Arrived], excused: Excused | None) -> None:
        """Bring the table up to these messages, each lane in order. excused: None where gaps mean nothing, because the
        transport keeps only the last message of each page."""
        positions = self.positions()
        changed: dict[str, Message] = {}
        self._db.execute("BEGIN")
        try:
            for one in arrived:
                message = one.message
                before = positions.get(message.lane, Position())
                before = replace(before, lacks=before.lacks or one.lost)
                after, counts = _moved(before, message, excused)
                positions[message.lane] = replace(after, place=one.place)
                if counts:
                    if message.key:
                        changed[message.key] = message
                    elif message.kind == COMPLETE:
                        self._write(changed)
                        older = "DELETE FROM pages WHERE lane = ? AND epoch < ?"
                        self._db.execute(older, [message.lane, message.epoch])
                elif after.lacks and message.kind in FOR_GOOD:  # whatever is missing, who asked to go goes
                    self._write(changed)
                    self._db.execute(_WITHDRAW, [message.key, message.lane, message.epoch, message.sequence])
            self._write(changed)
            rows = [[lane, at.epoch, at.sequence, at.place, at.lacks] for lane, at in positions.items()]
            if rows:
                self._db.executemany("INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def _write(self, changed: dict[str, Message]) -> None:
        there = [one for one in changed.values() if one.record is not None or one.reference is not None]
        gone = [one.key for one in changed.values() if one.record is None and one.reference is None]
        if gone:
            self._db.execute("DELETE FROM pages WHERE key IN (SELECT unnest(?::VARCHAR[]))", [gone])
        if there:
            columns = zip(*(_row(one) for one in there), strict=True)  # as lists: row by row it takes DuckDB 2 ms each
            self._db.execute(_UPSERT, [list(column) for column in columns])
        changed.clear()


def _row(one: Message) -> list[Any]:
    record = None if one.record is None else one.record.decode()
    reference = None if one.reference is None else orjson.dumps(one.reference).decode()
    return [one.key, one.lane, one.epoch, one.sequence, one.version, one.time, record, reference, one.content]


def _moved(at: Position, message: Message, excused: Excused | None) -> tuple[Position, bool]:
    """The position behind a message, and whether that one counts."""
    if (message.epoch, message.sequence) <= (at.epoch, at.sequence):
        return at, False
    behind = Position(message.epoch, message.sequence)
    if message.kind == BEGIN or (excused is None and not at.lacks):
        return behind, True
    if message.epoch > at.epoch:
        return replace(at, lacks=f"the beginning of epoch {message.epoch}"), False
    if message.kind == RESUME and (message.after or 0) <= at.sequence:
        return behind, True
    missing = range(at.sequence + 1, message.sequence)
    if not at.lacks and (not missing or excused is None or excused(message, missing)):
        return behind, True
    return replace(at, lacks=at.lacks or f"the messages {missing.start:,} to {missing.stop - 1:,}"), False
