"""The lines of `llm/ledger.jsonl`: each whole and of a known kind, or the file is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import orjson

from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk

_NEEDS = {
    "intent": {"call", "key", "job", "currency", "page", "reserved"},
    "answer": {"call", "outcome", "cost", "tokens_in", "tokens_out", "final", "value"},
    "batch": {"call", "job", "currency", "reserved", "mark", "part", "at", "size", "id", "ended"},
    "withdrawn": {"call", "job", "currency", "reserved"},
}
"""Fields of each kind of line."""


class DamagedError(StorageError):
    """A line that is not whole."""


def lines_of(path: Path, *, unfinished: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line with the offset of its beginning. Raises: StorageError where one is damaged, or does not follow from
    those before it: each call is there once, and an answer comes after its call. unfinished: the last line may be.
    """
    at, calls, unanswered = 0, set[int](), set[int]()
    with disk(path), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if unfinished and not line.endswith(b"\n"):
                return
            if (content := _parsed(line)) is None or not _follows(content, calls, unanswered):
                raise DamagedError(
                    f"{path}: line {number} is damaged; restore the file from a copy, or move it away: then everything "
                    "is asked and paid again, and what llm-spent.json, job records, and manifests of texts beside the "
                    "corpus say counts as spent"
                )
            yield at, content
            at += len(line)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = orjson.loads(line)
        if _NEEDS[content["kind"]] - content.keys() or not isinstance(content["call"], int):
            return None
        money = Decimal(content["cost" if content["kind"] == "answer" else "reserved"])
        return content if money.is_finite() and money >= 0 else None
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError, InvalidOperation):
        return None


def _follows(line: dict[str, Any], calls: set[int], unanswered: set[int]) -> bool:
    call = line["call"]
    if line["kind"] == "answer":
        is_open = call in unanswered
        unanswered.discard(call)
        return is_open
    is_new = call not in calls
    calls.add(call)
    if line["kind"] == "intent":
        unanswered.add(call)
    return is_new


def damage_of(path: Path) -> str:
    """What is wrong with a ledger; "" where nothing is, or there is none. Nothing changes.

    The unfinished last line of a death, or of a process at work, is no damage. Raises: StorageError where the disk
    fails.
    """
    if not path.is_file():
        return ""
    try:
        for _ in lines_of(path, unfinished=True):
            pass
    except DamagedError as error:
        return str(error)
    return ""


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
