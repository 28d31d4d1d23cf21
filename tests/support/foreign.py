"""Archives as other people write them, made by hand; the prose is our own (`bench/web/prose.py`)."""

from __future__ import annotations

import gzip
import uuid
from collections.abc import Iterable
from pathlib import Path

from bench.web.prose import prose

DATE = "2026-01-02T03:04:05Z"


def page(seed: object, head: str = "") -> bytes:
    """A page of prose; equal seeds make equal texts."""
    paragraphs = "".join(f"<p>{text}</p>" for text in prose(seed))
    return f"<html lang=en><head><title>Page {seed}</title>{head}</head><body>{paragraphs}</body></html>".encode()


class Writer:
    """Collects the records of one archive; `save` writes it."""

    def __init__(self) -> None:
        self.records: list[bytes] = []

    def add(
        self,
        url: str,
        body: bytes = b"",
        status: str = "200 OK",
        *,
        kind: str = "response",
        http: Iterable[tuple[str, str]] = (),
        warc: dict[str, str] | None = None,
    ) -> Writer:
        """One record, a gzip member of its own, without digests."""
        is_http = kind in {"response", "revisit"}
        lines = [f"HTTP/1.1 {status}", "Content-Type: text/html; charset=utf-8", *(f"{n}: {v}" for n, v in http)]
        block = ("\r\n".join(lines) + "\r\n\r\n").encode() + body if is_http else body
        fields = {
            "WARC-Type": kind,
            "WARC-Target-URI": url,
            "WARC-Date": DATE,
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{url} {len(self.records)}')}>",
            "Content-Type": "application/http; msgtype=response" if is_http else "text/plain",
            "Content-Length": str(len(block)),
            **(warc or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.records.append(gzip.compress(f"WARC/1.0\r\n{head}\r\n".encode() + block + b"\r\n\r\n", mtime=0))
        return self

    def break_last(self) -> int:
        """Damage the last record; its offset."""
        damaged = bytearray(self.records[-1])
        damaged[len(damaged) // 2] ^= 0x55
        self.records[-1] = bytes(damaged)
        return sum(map(len, self.records[:-1]))

    def save(self, path: Path) -> Path:
        """Write the archive."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(self.records))
        return path
