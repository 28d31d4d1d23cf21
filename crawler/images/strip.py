"""A JPEG, PNG or WebP without its metadata: the pixels' bytes stay as they came, nothing is encoded again.

What goes: EXIF, XMP, IPTC, C2PA, comments, texts, times, previews, and whatever stands behind the end of the image
(another file, in polyglots). What stays: pixels, colour profile, transparency.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

MAX_PROFILE = 2**20
"""Bytes of a colour profile, decompressed; a larger one goes."""
_JPEG_GONE = {0xE1, *range(0xE3, 0xEE), 0xEF, 0xFE}
_STANDALONE = {0x01, *range(0xD0, 0xD8)}
_PNG_KEPT = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"pHYs"}
                      | {b"bKGD", b"iCCP", b"cICP"})  # fmt: skip
_WEBP_KEPT = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ICCP"})
_EXIF_AND_XMP = 0x0C
"""Bits of a VP8X chunk that say that such chunks follow."""


class CutError(ValueError):
    """The file ends before its end, or its parts do not fit together."""


def stripped(data: bytes, kind: str) -> bytes:
    """kind: "JPEG", "PNG" or "WEBP". Raises: CutError."""
    parts = {"JPEG": _jpeg, "PNG": _png, "WEBP": _webp}[kind](data)
    try:
        return b"".join(parts)
    except (struct.error, IndexError) as error:
        raise CutError(str(error)) from error


def _jpeg(data: bytes) -> Iterator[bytes]:
    yield data[:2]
    at = 2
    while True:
        while data[at : at + 2] == b"\xff\xff":  # fill bytes
            at += 1
        if data[at : at + 1] != b"\xff" or at + 2 > len(data):
            raise CutError("no marker where one has to be")
        marker = data[at + 1]
        if marker == 0xD9:
            yield b"\xff\xd9"
            return
        if marker in _STANDALONE:
            yield data[at : at + 2]
            at += 2
            continue
        size = struct.unpack(">H", data[at + 2 : at + 4])[0]
        end = at + 2 + size
        if marker not in _JPEG_GONE and not (marker == 0xE2 and data[at + 4 : at + 15] != b"ICC_PROFILE"):
            yield data[at:end]
        at = end
        if marker == 0xDA:
            end = _end_of_scan(data, at)
            yield data[at:end]
            at = end


def _end_of_scan(data: bytes, at: int) -> int:
    """Where the next marker is that is no restart marker."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            raise CutError("the image has no end")
        following = data[at + 1]
        if following == 0xFF:
            at += 1
        elif following == 0 or 0xD0 <= following <= 0xD7:
            at += 2
        else:
            return at


def _png(data: bytes) -> Iterator[bytes]:
    yield data[:8]
    at = 8
    while True:
        size, name = struct.unpack(">I4s", data[at : at + 8])
        end = at + 12 + size
        if end > len(data):
            raise CutError("the image has no end")
        if name in _PNG_KEPT and not (name == b"iCCP" and _is_bomb(data[at + 8 : end - 4])):
            yield data[at:end]
        if name == b"IEND":
            return
        at = end


def _is_bomb(profile: bytes) -> bool:
    packed = profile.partition(b"\0")[2][1:]
    opened = zlib.decompressobj()
    try:
        opened.decompress(packed, MAX_PROFILE)
    except zlib.error:
        return True
    return bool(opened.unconsumed_tail)


def _webp(data: bytes) -> Iterator[bytes]:
    size = struct.unpack("<I", data[4:8])[0]
    chunks, at = [], 12
    while at + 8 <= min(8 + size, len(data)):
        name, length = struct.unpack("<4sI", data[at : at + 8])
        end = at + 8 + length + length % 2
        if at + 8 + length > len(data):
            raise CutError("the image has no end")
        if name in _WEBP_KEPT:
            chunk = bytearray(data[at:end].ljust(end - at, b"\0"))
            if name == b"VP8X":
                chunk[8] &= ~_EXIF_AND_XMP & 0xFF
            chunks.append(bytes(chunk))
        at = end
    body = b"WEBP" + b"".join(chunks)
    yield b"RIFF" + struct.pack("<I", len(body)) + body
