"""Between finding archives and reading them: those that lie in a folder are read in the order in which they were begun.

Names do not tell that order: a second run, another worker and a rewritten archive sort anywhere. Which of two versions
of a page came first, and which copy of a text was known first, does depend on it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from crawler.storage.foreign_bytes import Piece, pieces

_DATE = re.compile(rb"^WARC-Date:[ \t]*([0-9][0-9TZ:.+-]{3,40})\r?$", re.MULTILINE | re.IGNORECASE)
_HEAD = 8192  # bytes; more than the head of any first record


def by_age(paths: list[str]) -> list[str]:
    """Archives on a local disk, by the date of their first record, then by name; those without one come first."""
    return sorted(paths, key=lambda path: (begun(path), path))


def begun(path: str) -> str:
    """WARC-Date of the first record; empty where it cannot be read (who reads the archive then says why)."""
    with suppress(OSError, EOFError), Path(path).open("rb") as file:
        for piece in pieces(file):
            match = _DATE.search(piece.data[:_HEAD]) if isinstance(piece, Piece) else None
            return match[1].decode() if match else ""
    return ""
