"""Pictures of our own, and files that say, or hide, something beside their pixels."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image

PLUS = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:plus="http://ns.useplus.org/ldf/xmp/1.0/" plus:DataMining="{}"/></rdf:RDF></x:xmpmeta>'
)
PROHIBITED = PLUS.format("http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED-AIMLTRAINING")
ALLOWED = PLUS.format("http://ns.useplus.org/ldf/vocab/DMI-ALLOWED")
RESERVED = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:tdm="http://www.w3.org/ns/tdmrep#" tdm:reservation="1"/></rdf:RDF></x:xmpmeta>'
)


def drawing(seed: object, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """Soft clouds of colour, the same for the same seed, with little in common with those of another."""
    number = int.from_bytes(str(seed).encode(), "big") % 2**63
    noise = np.random.default_rng(number).normal(size=(size[1], size[0], 3))
    field = np.cumsum(np.cumsum(noise, 0), 1)
    scaled = (field - field.min()) / (field.max() - field.min()) * 255
    return Image.fromarray(scaled.astype("uint8"))


def encoded(image: Image.Image, kind: str = "JPEG", **how: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **how)
    return target.getvalue()


def picture(seed: object, kind: str = "JPEG", size: tuple[int, int] = (320, 240), **how: Any) -> bytes:
    return encoded(drawing(seed, size), kind, **how)


def moving(seed: object, kind: str) -> bytes:
    """Three frames."""
    return picture((seed, 0), kind, save_all=True, append_images=[drawing((seed, n)) for n in (1, 2)], duration=80)


# --- PNG --------------------------------------------------------------------------------------------------------------
def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def with_chunk(png: bytes, name: bytes, data: bytes) -> bytes:
    """One more chunk behind the head."""
    return png[:33] + chunk(name, data) + png[33:]


def with_packed_xmp(png: bytes, xmp: str) -> bytes:
    return with_chunk(png, b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(xmp.encode()))


def vast(width: int = 65_500, height: int = 65_500) -> bytes:
    """A PNG of a few hundred bytes that says it has 4,290 million pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


BOMB = zlib.compress(bytes(100_000_000), 9)
"""100 MB in 100 kB."""


# --- C2PA -------------------------------------------------------------------------------------------------------------
def cbor(value: Any) -> bytes:
    """Just what an assertion needs (RFC 8949)."""
    if isinstance(value, str):
        raw = value.encode()
        return _head(3, len(raw)) + raw
    return _head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())


def _head(kind: int, number: int) -> bytes:
    return bytes([kind << 5 | number]) if number < 24 else bytes([kind << 5 | 24, number])


def box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content) + 8) + name + content


def described(label: str, uuid: bytes, *content: bytes) -> bytes:
    """A JUMBF box with its description (ISO 19566-5)."""
    said = uuid + bytes.fromhex("00110010800000aa00389b71") + b"\x03" + label.encode() + b"\0"
    return box(b"jumb", box(b"jumd", said) + b"".join(content))


def store(use: str = "notAllowed", entry: str = "c2pa.ai_training", label: str = "c2pa.training-mining") -> bytes:
    """A C2PA store with one manifest with one assertion."""
    content = box(b"cbor", cbor({"entries": {entry: {"use": use}}}))
    assertion = described(label, b"cbor", content)
    manifest = described("urn:uuid:1", b"c2ma", described("c2pa.assertions", b"c2as", assertion))
    return described("c2pa", b"c2pa", manifest)


def unreadable_store() -> bytes:
    """The same, with an assertion that is no CBOR."""
    assertion = described("c2pa.training-mining", b"cbor", box(b"cbor", b"\xbf\x7f\x61"))
    return described("c2pa", b"c2pa", described("c2pa.assertions", b"c2as", assertion))


def jpeg_with_store(jpeg: bytes, jumbf: bytes, part: int = 60_000) -> bytes:
    """In APP11 segments; of a small `part` in several."""
    segments = []
    for number, at in enumerate(range(8, len(jumbf), part), 1):
        payload = b"JP" + struct.pack(">HI", 1, number) + jumbf[:8] + jumbf[at : at + part]
        segments.append(b"\xff\xeb" + struct.pack(">H", len(payload) + 2) + payload)
    return jpeg[:2] + b"".join(segments) + jpeg[2:]


def webp_with_chunk(webp: bytes, name: bytes, data: bytes) -> bytes:
    body = webp[8:] + name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", len(body)) + body
