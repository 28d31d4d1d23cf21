"""Seed files: one URL a line, blank lines and comments between them; and what to say about a line that is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from crawler.urls.canonicalize import canonicalize, printable

MAX_LINE = 10_000
"""Characters of a line that are read: no URL is longer."""

_COMMENT = re.compile(r"(?:^|[ \t])#")


class SeedError(ValueError):
    """The seed arguments cannot be used. `problems` holds one sentence each, ready to be shown to a person."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def url_lines(path: Path) -> Iterator[tuple[int, str, str | None]]:
    """Line number, text and canonical URL (None = not a URL) of each line that is neither blank nor a comment.

    Raises: SeedError where the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
            for number, line in enumerate(iter(lambda: _whole_line(file), ""), 1):
                text = _COMMENT.split(line, maxsplit=1)[0].strip()
                if text:
                    yield number, text, canonicalize(text)
    except OSError as error:
        raise SeedError([f"{path}: cannot be read: {error.strerror}"]) from None


def _whole_line(file: IO[str]) -> str:
    """The next line, cut at MAX_LINE: no URL is longer, and a file without line ends must not fill the memory."""
    line = rest = file.readline(MAX_LINE)
    while rest and not rest.endswith("\n"):
        rest = file.readline(MAX_LINE)
    return line


def not_a_url(text: str) -> str:
    """What was expected instead of this text, and what may have been meant."""
    shown = printable(text)
    if "://" not in text and canonicalize(f"https://{text}") is not None and "." in text:
        return f"expected an http(s) URL, found {shown}; did you mean 'https://{text[:100]}'?"
    return f"expected an http(s) URL without user name, found {shown}"
