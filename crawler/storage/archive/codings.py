"""The payload of an archived response without transfer and content encoding; what explodes stays bounded."""

from __future__ import annotations

import io
from collections.abc import Iterable

from fastwarc.stream_io import ChunkedReader

from crawler.decompress import ARCHIVE_WINDOW_LOG, CODINGS, End, unpack

_READ_WHEN_TORN = frozenset({"gzip", "x-gzip", "deflate"})
"""Codings whose torn streams other archive readers read as far as they go."""


def decoded(headers: Iterable[tuple[str, str]], raw: bytes, max_bytes: int) -> bytes:
    """The body behind `raw`. Archives exist whose headers promise an encoding that the payload does not have: such a
    payload is returned as it is, which is what browsers and other archive readers do.

    Raises: ValueError where more than `max_bytes` come out.
    """
    transfer, content = [], []
    for name, value in headers:
        codings = [coding.strip().lower() for coding in value.split(",")]
        if name.lower() == "transfer-encoding":
            transfer += codings
        elif name.lower() == "content-encoding":
            content += codings
    body = raw
    for coding in [*reversed(transfer), *reversed(content)]:
        body = _without(coding, body, max_bytes)
    return body


def _without(coding: str, raw: bytes, max_bytes: int) -> bytes:
    if coding == "chunked":
        return _joined(raw, max_bytes)
    if coding not in CODINGS:
        return raw
    found = unpack(raw, coding, max_bytes, window_log=ARCHIVE_WINDOW_LOG)
    if found.end is End.TOO_LARGE:
        raise _beyond(max_bytes)
    torn = found.end is End.TORN and coding in _READ_WHEN_TORN
    return found.data if torn or (found.end is End.WHOLE and not found.rest) else raw


def _joined(raw: bytes, max_bytes: int) -> bytes:
    try:
        body = ChunkedReader(io.BytesIO(raw)).read(max_bytes + 1)
    except (OSError, ValueError, EOFError):
        return raw
    if len(body) > max_bytes:
        raise _beyond(max_bytes)
    return bytes(body)


def _beyond(max_bytes: int) -> ValueError:
    return ValueError(f"the decoded payload is beyond the limit of {max_bytes} bytes")
