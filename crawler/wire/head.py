"""The head of an HTTP answer is read as Chromium reads it, for the crawl and for archives.

Sources: RFC 9112 sections 2 to 6 where servers keep to it; where they do not, what Chromium does
(`tests/wire/forms.jsonl` holds its answers). So: up to four bytes of rubbish before the status line, any case, no
reason, no number (200); bare line feeds; folded lines; lines that are no header are left out, and so are names that are
no token. Not read: a NUL in the head, lengths that contradict each other, more than 256 KiB.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Headers = list[tuple[bytes, bytes]]

MAX_HEAD_BYTES = 256 * 1024
"""Status line and headers of one answer."""
MOST_INTERIM = 20
"""Interim answers before the final one (RFC 9110 section 15.2: 100 Continue, 103 Early Hints); they are left out."""
SWITCHING_PROTOCOLS = 101

_SLOP = 4
_BEGIN = re.compile(rb"http", re.IGNORECASE)
_END = re.compile(rb"\n\r?\n")
_LINE_END = re.compile(rb"[\r\n]+")
_STATUS = re.compile(rb"[^ ]*(?: +(\d{1,9})?\d*[ \t]*(.*))?", re.DOTALL)
_VERSION = re.compile(rb"http/(\d{1,4})\.(\d{1,4})", re.IGNORECASE)
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110 section 5.6.2
_LENGTH = re.compile(rb"\d{1,18}")
_NO_BODY = frozenset({204, 205, 304})


class HeadError(ValueError):
    """No browser would take this for an answer; says why."""


@dataclass(frozen=True, slots=True)
class Head:
    """Status line and headers of one answer. `version` is (1, 0) or (1, 1): what it may do is decided by that."""

    version: tuple[int, int]
    status: int
    reason: bytes
    headers: Headers

    def values(self, name: bytes) -> list[bytes]:
        """The values of every line of this name (given in lower case), in order."""
        return [value for key, value in self.headers if key.lower() == name]

    @property
    def is_chunked(self) -> bool:
        """True where the body comes in chunks; that of an answer in HTTP/1.0 never does."""
        if self.status in _NO_BODY or self.version < (1, 1):
            return False
        return b"chunked" in (item.lower() for item in self._items(b"transfer-encoding"))

    @property
    def length(self) -> int | None:
        """Bytes of a body that does not come in chunks; None where it ends with the connection.

        Raises: HeadError where two lengths contradict each other.
        """
        if self.status in _NO_BODY:
            return 0
        items = self._items(b"content-length")
        if len(set(items)) > 1:
            raise HeadError("several Content-Length that contradict each other")
        return int(items[0]) if items and _LENGTH.fullmatch(items[0]) else None

    def _items(self, name: bytes) -> list[bytes]:
        return [item.strip(b" \t") for value in self.values(name) for item in value.split(b",")]


class HeadReader:
    """Finds the head in bytes as they come."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._begin: int | None = None
        self._searched = 0
        self._interim: list[Head] = []

    def feed(self, data: bytes) -> tuple[Head, bytes] | None:
        """The final head and the bytes behind it, once it is complete. Raises: HeadError."""
        self._data += data
        while (end := self._end()) is not None:
            head = parse_head(bytes(self._data[:end]))
            del self._data[:end]
            self._begin = None
            if head.status // 100 != 1 or head.status == SWITCHING_PROTOCOLS:
                return head, bytes(self._data)
            self._interim.append(head)
            if len(self._interim) > MOST_INTERIM:
                raise HeadError(f"more than {MOST_INTERIM} interim answers")
        return None

    def cut_off(self) -> Head:
        """What there is of the head where nothing more comes. Raises: HeadError."""
        return self._interim[-1] if self._interim and not self._data else parse_head(bytes(self._data))

    def _end(self) -> int | None:
        """Index behind the empty line, once that is here. Raises: HeadError."""
        if self._begin is None:
            if len(self._data) < _SLOP + 4 and not _BEGIN.search(self._data):
                return None
            self._begin = self._searched = _begin_of(self._data)
        found = _END.search(self._data, self._searched)
        if (found.end() if found else len(self._data)) > MAX_HEAD_BYTES:
            raise HeadError(f"more than {MAX_HEAD_BYTES // 1024} KiB of headers")
        self._searched = max(self._begin, len(self._data) - 2)
        return found.end() if found else None


def read_block(block: bytes) -> tuple[Head, bytes]:
    """Head and body of a whole answer; one that ends within its head has no body. Raises: HeadError."""
    reader = HeadReader()
    return reader.feed(block) or (reader.cut_off(), b"")


def parse_head(block: bytes) -> Head:
    """A whole head, from its status line to its end. Raises: HeadError."""
    block = block[_begin_of(block) :]
    if b"\0" in block:
        raise HeadError("a NUL in the head")
    lines = [line for line in _LINE_END.split(block) if line]
    version, (status, reason) = _version(lines[0]), _status(lines[0])
    return Head(version, status, reason, _headers(lines[1:]))


def _begin_of(block: bytes | bytearray) -> int:
    found = _BEGIN.search(block, 0, _SLOP + 4)
    if found is None:
        raise HeadError("no HTTP status line")
    return found.start()


def _version(line: bytes) -> tuple[int, int]:
    found = _VERSION.match(line)
    return (1, 1) if found and (int(found[1]), int(found[2])) >= (1, 1) else (1, 0)


def _status(line: bytes) -> tuple[int, bytes]:
    """Status and reason; 200 where the line has no number."""
    found = _STATUS.fullmatch(line)
    number, reason = (found[1], found[2] or b"") if found else (None, b"")
    return (200 if number is None else int(number)), reason.strip(b" \t")


def _headers(lines: list[bytes]) -> Headers:
    found: list[list[bytes]] = []  # a line and the lines folded into it
    is_open = False  # the last line may go on in the next one (RFC 9112 section 5.2)
    for line in lines:
        if line[:1] in b" \t":
            if is_open:
                found[-1].append(line.strip(b" \t"))
            continue
        name, colon, value = line.partition(b":")
        is_open = bool(name and colon)
        if is_open:
            found.append([name.strip(b" \t"), value.strip(b" \t")])
    return [(name, b" ".join(part for part in parts if part)) for name, *parts in found if _TOKEN.fullmatch(name)]
