"""Text of strangers reaches a terminal as text: what would steer it is shown, not done.

Titles, headers and URLs may hold escape sequences (ESC, or U+009B alone), line returns, and marks that turn the
direction of what follows. Each such character is written as `\\u001b` is, which a JSON text may hold as well; rich's
own colours do not pass here (`crawler.observe.console`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO, cast

_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Controls but tab and line feed (ISO 6429), and Unicode's embeddings, overrides and isolates (UAX 9)."""


def visible(text: str) -> str:
    """The text with what steers a terminal written out."""
    return _STEERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if _STEERS.search(text) else text


class _Plain:
    """A text stream on which `visible` text arrives."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(visible(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def plain(stream: TextIO) -> TextIO:
    """The stream for text of strangers."""
    return stream if isinstance(stream, _Plain) else cast("TextIO", _Plain(stream))


def beneath(stream: TextIO) -> TextIO:
    """The stream that `plain` was given, for whoever writes colours."""
    return stream.stream if isinstance(stream, _Plain) else stream


def make_plain() -> None:
    """Standard output and standard error of this process, from now on."""
    sys.stdout, sys.stderr = plain(sys.stdout), plain(sys.stderr)


def write_bytes(content: bytes) -> None:
    """What was fetched, on standard output: as it is for a file or a pipe; for a terminal what steers it is shown."""
    out = beneath(sys.stdout)
    if out.isatty():
        out.write(visible(content.decode("utf-8", "backslashreplace")))
    else:
        out.buffer.write(content)
    out.flush()
