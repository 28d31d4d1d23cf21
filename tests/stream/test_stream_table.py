"""The table of a consumer, message by message."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from crawler.stream.message import EXPIRE, MOVED, RECORD, REMOVE, RESUME, WITHDRAW, Message
from crawler.stream.table import Arrived, Table


def message(sequence: int, kind: str = RECORD, key: str = "", *, after: int | None = None, epoch: int = 1) -> Message:
    record = b"{}" if kind == RECORD else None
    return Message(kind, key, "w", epoch, 0, sequence, 1, "2026-01-01T00:00:00Z", record, after=after)


def never(_: Message, __: range) -> bool:
    return False


def take(table: Table, *messages: Message) -> set[str]:
    table.take([Arrived(one, str(one.sequence)) for one in messages], never)
    return set(table.pages())


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "pages.duckdb")


@pytest.mark.parametrize("kind", [WITHDRAW, EXPIRE])
def test_a_withdrawal_counts_where_messages_are_missing_and_nothing_else_does(table: Table, kind: str) -> None:
    assert take(table, message(1, "begin"), message(2, key="a"), message(3, key="b")) == {"a", "b"}
    there = take(table, message(6, key="c"), message(7, kind, "a"), message(8, REMOVE, "b"))
    assert there == {"b"} and table.positions()[0].lacks == "the messages 4 to 5"
    assert take(table, message(9, RESUME, after=3), message(10, REMOVE, "b"), message(11, key="a")) == {"a"}
    assert take(table, message(7, kind, "a")) == {"a"}  # comes again, and is old


def test_a_table_of_an_older_version_gets_the_digest_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "pages.duckdb"
    with closing(Table(path)) as table:
        take(table, message(1, "begin"), message(2, key="a"))
        table._db.execute("ALTER TABLE pages DROP COLUMN content")
    with closing(Table(path)) as table:
        moved = Message(MOVED, "a", "w", 1, 0, 3, 1, "2026-01-01T00:00:00Z", b'{"x":1}', content="ab")
        assert take(table, moved) == {"a"}
        assert table._db.execute("SELECT content, record FROM pages").fetchall() == [("ab", '{"x":1}')]
