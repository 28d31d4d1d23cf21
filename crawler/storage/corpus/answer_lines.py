"""The lines of `llm/ledger.jsonl`: each whole and of a known kind, or the file is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk

_NEEDS = {
    "intent": {"call", "key", "job", "currency", "page", "reserved"},
    "answer": {"call", "outcome", "cost", "tokens_in", "tokens_out", "final", "value"},
    "withdrawn": {"call", "job", "currency", "reserved"},
}
"""Fields of each kind of line."""


def lines_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line with the offset of its beginning. Raises: StorageError where one is damaged."""
    at = 0
    with disk(path), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if (content := _parsed(line)) is None:
                raise StorageError(
                    f"{path}: line {number} is damaged; restore the file from a copy, or move it away: then everything "
                    "is asked and paid again, and no budget knows what was spent"
                )
            yield at, content
            at += len(line)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = orjson.loads(line)
        return None if _NEEDS[content["kind"]] - content.keys() else content
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None


def cut_torn_line(file: Any) -> None:
    """Behind the last whole line stands what a death left of an unfinished one: its call never went out, or it counts
    as one without an answer.
    """
    size = end = os.fstat(file.fileno()).st_size
    while end:
        begin = max(0, end - (1 << 16))
        found = os.pread(file.fileno(), end - begin, begin).rfind(b"\n")
        if found >= 0:
            end = begin + found + 1
            break
        end = begin
    if end < size:
        file.truncate(end)
        os.fsync(file.fileno())
