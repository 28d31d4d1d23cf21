"""What an image file says of its use inside: XMP (PLUS, TDMRep, robots), and C2PA's "do not train".

XMP is read as in documents (`crawler/stages/documents/xmp.py`). Of C2PA the assertions `c2pa.training-mining` and
`cawg.training-mining` are read, in JUMBF boxes (ISO 19566-5) and CBOR (RFC 8949). Signatures are not verified: a
refusal counts whoever wrote it, and one that cannot be read is one.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from crawler.stages.documents.model import Facts
from crawler.stages.documents.xmp import read_xmp

MAX_STORE = 8 * 2**20
"""Bytes of C2PA that are read of one file."""
_PACKET = re.compile(rb"<x:xmpmeta.{0,4194304}?</x:xmpmeta>|<rdf:RDF.{0,4194304}?</rdf:RDF>", re.DOTALL)
_LABEL = re.compile(rb"(?:c2pa|cawg)\.training-mining")
_TRAINS = ("ai_training", "ai_generative_training", "data_mining")
_REFUSES = frozenset({"notAllowed", "constrained"})
"""`constrained` has conditions in words, which nobody here can keep."""
_DEPTH = 24


@dataclass(slots=True)
class Statements:
    """metas, rel_links: as a page has them. c2pa: the refusals, one text each."""

    metas: list[tuple[str, str]] = field(default_factory=list)
    rel_links: list[tuple[str, str, str]] = field(default_factory=list)
    c2pa: list[str] = field(default_factory=list)


def statements_in(data: bytes, xmp: bytes = b"") -> Statements:
    """Of a whole file. xmp: a packet that is compressed in the file, as its decoder gave it."""
    facts = Facts()
    for packet in dict.fromkeys([*_PACKET.findall(data)[:20], *([xmp] if xmp else [])]):
        read_xmp(packet, facts)
    return Statements(facts.metas, facts.rel_links, list(dict.fromkeys(_training(data))))


def _training(data: bytes) -> Iterator[str]:
    store = _jpeg_jumbf(data) if data[:2] == b"\xff\xd8" else data
    for place in list(_LABEL.finditer(store))[:50]:
        content = _content_behind(store, place.end())
        if content is None:
            if _is_assertion(store, place.start()):
                yield f"{place[0].decode()}: cannot be read"
            continue
        yield from _refusals(content)


def _jpeg_jumbf(data: bytes) -> bytes:
    """The payloads of all APP11 segments, joined: a box may go over several (ISO 19566-5, annex D)."""
    parts, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] not in (0xDA, 0xD9):
        size = struct.unpack(">H", data[at + 2 : at + 4])[0]
        if data[at + 1] == 0xEB and data[at + 4 : at + 6] == b"JP":
            number = struct.unpack(">I", data[at + 8 : at + 12])[0]
            parts.append(data[at + (12 if number == 1 else 20) : at + 2 + size])
        at += 2 + max(2, size)
    return b"".join(parts)[:MAX_STORE]


def _is_assertion(store: bytes, at: int) -> bool:
    """True where the label is that of a description box, and no mention of it (in a claim)."""
    return b"jumd" in store[max(0, at - 40) : at]


def _content_behind(store: bytes, at: int) -> Any:
    """The content of the box whose description has the label that ends here; None where it cannot be read."""
    for kind, load in ((b"cbor", _cbor), (b"json", json.loads)):
        start = store.find(kind, at, at + 96)
        if start < 4 or not _is_assertion(store, at - 24):
            continue
        size = struct.unpack(">I", store[start - 4 : start])[0]
        body = store[start + 4 : start - 4 + size]
        try:
            return load(body)
        except (ValueError, IndexError, RecursionError, UnicodeDecodeError, struct.error):
            return None
    return None


def _refusals(content: Any) -> Iterator[str]:
    entries = content.get("entries", content) if isinstance(content, dict) else None
    if not isinstance(entries, dict):
        yield "training-mining: cannot be read"
        return
    for name, entry in entries.items():
        use = entry.get("use") if isinstance(entry, dict) else entry
        if str(name).rpartition(".")[2] in _TRAINS and use in _REFUSES:
            yield f"{name}: {use}"


def _cbor(data: bytes) -> Any:
    """The first item. Raises: ValueError, IndexError, struct.error."""
    return _item(memoryview(data), 0, 0)[0]


def _item(data: memoryview, at: int, depth: int) -> tuple[Any, int]:
    if depth > _DEPTH:
        raise ValueError("nested too deep")
    kind, info, at = data[at] >> 5, data[at] & 31, at + 1
    if info < 24:
        number: int | None = info
    elif info < 28:
        width = 1 << (info - 24)
        number = int.from_bytes(data[at : at + width], "big")
        if at + width > len(data):
            raise ValueError("cut off")
        at += width
    elif info == 31:
        number = None
    else:
        raise ValueError("a reserved length")
    if kind in (0, 1):
        return (number if kind == 0 else -1 - (number or 0)), at
    if kind in (2, 3):
        return _string(data, at, number, kind, depth)
    if kind in (4, 5):
        return _collection(data, at, number, kind, depth)
    if kind == 6:
        return _item(data, at, depth + 1)
    return {20: False, 21: True}.get(info), at


def _string(data: memoryview, at: int, size: int | None, kind: int, depth: int) -> tuple[Any, int]:
    if size is None:
        parts = []
        while data[at] != 0xFF:
            part, at = _item(data, at, depth + 1)
            parts.append(part)
        return (b"" if kind == 2 else "").join(parts), at + 1
    if at + size > len(data):
        raise ValueError("cut off")
    raw = bytes(data[at : at + size])
    return (raw if kind == 2 else raw.decode()), at + size


def _collection(data: memoryview, at: int, size: int | None, kind: int, depth: int) -> tuple[Any, int]:
    items: list[Any] = []
    wanted = None if size is None else size * (2 if kind == 5 else 1)
    if wanted is not None and wanted > len(data):
        raise ValueError("longer than its file")
    while (len(items) < wanted) if wanted is not None else data[at] != 0xFF:
        item, at = _item(data, at, depth + 1)
        items.append(item)
    at += size is None
    if kind == 4:
        return items, at
    keys = [key if isinstance(key, str | int | bool) else str(key) for key in items[::2]]
    return dict(zip(keys, items[1::2], strict=True)), at
