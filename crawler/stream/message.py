"""One message of a stream: what became of one page, or where the stream begins, goes on and is complete.

The same JSON object on every transport. docs/stream.md lists the fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from crawler.problems import InputError
from crawler.storage.files.columns import SCHEMA_VERSION

BEGIN, RESUME, COMPLETE = "begin", "resume", "complete"
"""Kinds without a page: all that follows is sent from the beginning; what was lost behind `after` follows; all that the
corpus held when the epoch began has been sent, and what a table has of older epochs is not in it."""
RECORD, REPLACE, RELEASE, MOVED = "record", "replace", "release", "moved"
"""Kinds with a record: of a page that the table lacks, that it has, that had waited for a person; of one that was told
last with the same content, and that stands at another place of the archive by now."""
PLACE = frozenset({"warc_file", "warc_offset", "warc_record_id"})
"""Fields of a record that say where the raw page lies: all that `MOVED` changes."""
WITHDRAW, EXPIRE, SUPERSEDE, REMOVE = "withdraw", "expire", "supersede", "remove"
"""Kinds after which the page is gone: as somebody asked, as its time was over, as a later visit found it replaced or
gone, for any other reason (an operation on the corpus took it out)."""
FOR_GOOD = frozenset({WITHDRAW, EXPIRE})
"""Kinds that also stand in the stream of withdrawals, which nothing trims."""


class StreamError(InputError):
    """The stream cannot be read or written: what, where, what to do."""

    def __init__(self, problem: str) -> None:
        super().__init__([problem])


@dataclass(frozen=True, slots=True)
class Message:
    """One message. key: canonical URL, "" where it is about no page; lane: partition, 0 on Redis; sequence: counts the
    messages of a lane from 1, over all epochs of a writer; version: of the corpus; record: its JSON line.

    content: digest of the record without `PLACE`, in hex: where it is the same, there is nothing to embed again.
    reference: {"path", "line"} of a record that is too large to be sent. after: of `resume`, the last sequence that is
    there. erased: sequences of messages with a text of the page, which were deleted. partial: of `begin`, True where
    what is there already is not sent.
    """

    kind: str
    key: str
    writer: str
    epoch: int
    lane: int
    sequence: int
    version: int
    time: str
    record: bytes | None = None
    reference: dict[str, Any] | None = None
    after: int | None = None
    erased: list[int] = field(default_factory=list)
    partial: bool = False
    content: str | None = None

    def encoded(self) -> bytes:
        """One JSON object."""
        content: dict[str, Any] = {
            "kind": self.kind,
            "key": self.key,
            "writer": self.writer,
            "epoch": self.epoch,
            "lane": self.lane,
            "sequence": self.sequence,
            "version": self.version,
            "schema": SCHEMA_VERSION,
            "time": self.time,
        }
        content |= {
            name: value for name in ("content", "reference", "after") if (value := getattr(self, name)) is not None
        }
        content |= {name: value for name in ("erased", "partial") if (value := getattr(self, name))}
        if self.record is not None:
            content["record"] = orjson.Fragment(self.record.rstrip(b"\n"))
        return orjson.dumps(content)


def decoded(body: bytes, where: str) -> Message:
    """The message of these bytes; `record` is JSON again. Raises: StreamError where they are none of ours."""
    try:
        content = orjson.loads(body)
        if content.pop("schema") != SCHEMA_VERSION:
            raise StreamError(f"{where}: a message of another schema; use the version of the program that wrote it")
        if "record" in content:
            content["record"] = orjson.dumps(content["record"])
        return Message(**content)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise StreamError(f"{where}: not a message of `gristmill stream` ({error}); name another stream") from None
