"""Which content codings are to be taken off a body (RFC 9110 section 8.4), as Chromium decides it.

A list with a name that is no coding of the web (`utf-8`, `none`, `aws-chunked`) says nothing: the bytes are taken as
they came, whatever else the list has. What is no list of names at all is an error.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawler.decompress import CODINGS

MAX_CODINGS = 5
"""Content codings on top of each other; each is one more pass over the body."""

_NO_NAME = frozenset('"=;*')


class CodingError(ValueError):
    """The header names no codings; says why."""


def content_codings(values: Iterable[str]) -> list[str]:
    """The codings by the values of the Content-Encoding lines, in the order in which they were applied.

    Raises: CodingError.
    """
    text = ",".join(values).lower()
    if not _NO_NAME.isdisjoint(text):
        raise CodingError(f"no list of content codings: {text[:50]}")
    names = [name.strip(" \t") for name in text.split(",")] if text.strip(" \t,") else []
    if any(name not in CODINGS for name in names):
        return []
    if len(names) > MAX_CODINGS:
        raise CodingError(f"{len(names)} content codings")
    return names
