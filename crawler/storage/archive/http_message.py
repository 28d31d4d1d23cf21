"""Parses the block of a response record into status, header lines and body, as thirty years of servers sent them.

Sources: RFC 9112 sections 2.2, 4 and 5; obsolete line folding (5.2) is joined; bare line feeds are line ends. Interim
responses before the final one (RFC 9110 section 15.2: 100 Continue, 103 Early Hints) are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Headers = list[tuple[bytes, bytes]]
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?=[ \t\r\n]|$)")
MOST_INTERIM = 20
"""Interim responses before the final one."""
_END = re.compile(rb"\r?\n\r?\n")
_FOLD = re.compile(rb"\r?\n[ \t]+")


@dataclass(frozen=True, slots=True)
class HttpMessage:
    """One response as it came over the wire; `body` may still carry transfer and content codings."""

    status: int
    headers: Headers
    body: bytes

    def text_headers(self) -> list[tuple[str, str]]:
        """The header lines as text (latin-1, RFC 9110 section 5.5)."""
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.headers]


def parse_response(block: bytes) -> HttpMessage:
    """The parts of an HTTP response; a block that ends within its header has an empty body.

    Raises: ValueError where no status line begins the block.
    """
    found = _STATUS_LINE.match(block)
    if found is None:
        raise ValueError("no HTTP status line")
    end = _END.search(block)
    for _ in range(MOST_INTERIM):
        final = _STATUS_LINE.match(block, end.end()) if end and found[1].startswith(b"1") else None
        if final is None:
            break
        block = block[final.start() :]
        found, end = final, _END.search(block)
    head = block[: end.start()] if end else block
    lines = _FOLD.sub(b" ", head).split(b"\n")[1:]
    fields = (line.partition(b":") for line in lines)
    headers = [(name.strip(), value.strip()) for name, colon, value in fields if colon and name.strip()]
    return HttpMessage(int(found[1]), headers, block[end.end() :] if end else b"")
