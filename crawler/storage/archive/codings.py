"""The payload of an archived response without transfer and content encoding; what explodes stays bounded."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable

from fastwarc.stream_io import BrotliReader, ChunkedReader, GzipReader, WarcReader, ZstdReader


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
        if reader := _READERS.get(coding):
            body = _decode(reader, body, max_bytes)
    return body


def _decode(new_reader: Callable[[io.BytesIO], WarcReader], raw: bytes, max_bytes: int) -> bytes:
    try:
        body = new_reader(io.BytesIO(raw)).read(max_bytes + 1)
    except (OSError, ValueError, EOFError):
        return raw
    if len(body) > max_bytes:
        raise ValueError(f"the decoded payload is beyond the limit of {max_bytes} bytes")
    return body


def _deflate(raw: io.BytesIO) -> WarcReader:
    """HTTP's deflate is zlib (RFC 9110 8.4.1.2), but some servers send the bare stream."""
    reader = zlib.decompressobj(-15)
    try:
        zlib.decompressobj().decompress(raw.getvalue(), 1)
    except zlib.error:
        packed = zlib.compressobj(0)
        plain = reader.decompress(raw.getvalue(), _BARE_LIMIT)
        raw = io.BytesIO(packed.compress(plain) + packed.flush())
    return GzipReader(raw, zlib=True)


_BARE_LIMIT = 64 * 2**20

_READERS: dict[str, Callable[[io.BytesIO], WarcReader]] = {
    "chunked": ChunkedReader,
    "gzip": GzipReader,
    "x-gzip": GzipReader,
    "deflate": _deflate,
    "br": BrotliReader,
    "zstd": ZstdReader,
}
