"""Pages and servers that were made to hurt a crawler: one case, one site, the reason that has to be recorded."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import brotli
import zstandard

from bench.web.prose import prose
from tests.support.loopback_web import Answer, Route

MEBIBYTE = 2**20
BOMB_BYTES = 256 * MEBIBYTE
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"


@dataclass(frozen=True, eq=False)
class Hostile:
    """What the site sends at /page, and how that ends: `kept`, or reasons of which one is recorded."""

    what: str
    route: Callable[[], Route]
    reasons: tuple[str, ...]


def html(body: str, encoding: str = "utf-8", head: str = "") -> bytes:
    return f"<html lang=en><head><title>Page</title>{head}</head><body><main>{body}</main></body></html>".encode(
        encoding
    )


def article(seed: str, extra: str = "") -> str:
    return "".join(f"<p>{extra}{paragraph}</p>" for paragraph in prose(f"hostile {seed} 1"))


def page(body: bytes, content_type: str = "text/html; charset=utf-8", **headers: str) -> Answer:
    lines = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Answer(body=body, headers=lines, content_type=content_type)


# --- bombs -----------------------------------------------------------------------------------------------------------
@cache
def gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(BOMB_BYTES // MEBIBYTE)) + packer.flush()


def twice_gzipped() -> Answer:
    return page(gzip.compress(gzip_bomb()), Content_Encoding="gzip, gzip")


def brotli_bomb() -> Answer:
    packer = brotli.Compressor(quality=1)
    parts = [packer.process(bytes(MEBIBYTE)) for _ in range(BOMB_BYTES // MEBIBYTE)]
    return page(b"".join(parts) + packer.finish(), Content_Encoding="br")


def zstd_bomb() -> Answer:
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    parts = [packer.compress(bytes(MEBIBYTE)) for _ in range(BOMB_BYTES // MEBIBYTE)]
    return page(b"".join(parts) + packer.flush(), Content_Encoding="zstd")


def deflate_bomb() -> Answer:
    return page(zlib.compress(bytes(64 * MEBIBYTE), 9), Content_Encoding="deflate")


def torn_gzip() -> Answer:
    whole = gzip.compress(html(article("torn gzip")))
    return page(whole[: len(whole) // 2], Content_Encoding="gzip")


# --- servers that do not stop ----------------------------------------------------------------------------------------
def endless(chunk: bytes, pause: float = 0.0, first: bytes = HEAD) -> Callable[[], Route]:
    """Sends `first` and then `chunk` until the client hangs up or the web closes."""

    def send(handler: Any) -> None:
        handler.wfile.write(first)
        while not handler.server.closing.wait(pause):
            handler.wfile.write(chunk)

    return lambda: send


def announced(length: int, sent: bytes) -> Callable[[], Route]:
    """Announces `length` bytes, sends others, and closes."""

    def send(handler: Any) -> None:
        handler.wfile.write(HEAD + b"Content-Length: %d\r\n\r\n" % length + sent)

    return lambda: send


def broken_chunks() -> Route:
    def send(handler: Any) -> None:
        handler.wfile.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZZ\r\n<html>no chunk\r\n")

    return send


# --- markup ----------------------------------------------------------------------------------------------------------
def attributes(count: int) -> bytes:
    return html(f"<div {' '.join(f'a{n}=1' for n in range(count))}>x</div>{article('attributes')}")


def links(count: int) -> bytes:
    """All of them leave the seeded hosts."""
    return html(article("links") + "<nav>" + "".join(f'<a href="//127.9.0.1/{n}">more</a> ' for n in range(count)))


def entities() -> bytes:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    doctype = f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY l0 "lol">{levels}]>'
    return doctype.encode() + html(f"<p>&l11;</p>{article('entities')}")


def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


CASES = (
    Hostile("gzip bomb", lambda: page(gzip_bomb(), Content_Encoding="gzip"), ("too_large",)),
    Hostile("gzip bomb in gzip", twice_gzipped, ("too_large",)),
    Hostile("brotli bomb", brotli_bomb, ("too_large",)),
    Hostile("zstd bomb", zstd_bomb, ("too_large",)),
    Hostile("deflate bomb", deflate_bomb, ("too_large",)),
    Hostile("100 content codings", lambda: page(b"x", Content_Encoding=", ".join(["gzip"] * 100)), ("undecodable",)),
    Hostile("torn gzip", torn_gzip, ("undecodable",)),
    Hostile("gzip that is none", lambda: page(html(article("no gzip")), Content_Encoding="gzip"), ("undecodable",)),
    Hostile("1 GB, announced", announced(2**30, b"<html>" + b" " * 65_536), ("too_large",)),
    Hostile("1 GB, not announced", endless(b"<p>more</p>" * 6_000, first=HEAD + b"\r\n<html>"), ("too_large",)),
    Hostile("one byte every 0.05 s", endless(b" ", 0.05, HEAD + b"\r\n<html>"), ("download_failed",)),
    Hostile("one header every 0.05 s", endless(b"X-Slow: 1\r\n", 0.05), ("download_failed",)),
    Hostile("headers without end", endless(b"X-More: and more\r\n" * 1_000), ("download_failed",)),
    Hostile("one header line without end", endless(b"a" * 16_384, first=HEAD + b"X-Long: "), ("download_failed",)),
    Hostile("no HTTP at all", endless(b"\x00\xff" * 8_192, first=b"SSH-2.0-OpenSSH_9.2\r\n"), ("download_failed",)),
    Hostile("truncated body", announced(100_000, html(article("truncated"))), ("download_failed",)),
    Hostile("broken chunks", broken_chunks, ("download_failed",)),
    Hostile("60,000 attributes", lambda: page(attributes(60_000)), ("hostile_html",)),
    Hostile("a tag of 2 MB", lambda: page(html(f"<p title='{'x' * 2_000_000}'>x</p>")), ("hostile_html",)),
    Hostile("100,000 nested tags", lambda: page(html("<div>" * 100_000 + article("nested"))), ("hostile_html",)),
    Hostile("entities in entities", lambda: page(entities(), "application/xhtml+xml"), ("kept",)),
    Hostile("50,000 links", lambda: page(links(50_000)), ("kept",)),
    Hostile("a line of 10 MB", lambda: page(html("x" * (10 * MEBIBYTE - 200))), ("too_short",)),
    Hostile("10 MB of unclosed tags", lambda: page(b"<b " * 3_400_000), ("no_text", "hostile_html")),
    Hostile("10 MB of small elements", lambda: page(b"<p>a" * (10 * MEBIBYTE // 4)), ("hostile_html",)),
    Hostile("single NUL bytes", lambda: page(html(article("nul", "\x00"))), ("kept",)),
    Hostile("NUL bytes", lambda: page(html(article("nul", "\x00" * 40))), ("undecodable",)),
    Hostile("wrong charset (UTF-8 announced, windows-1252 sent)",
            lambda: page(html(article("1252", "é “ß” "), "cp1252")), ("kept",)),
    Hostile("an unknown charset", lambda: page(html(article("unknown")), "text/html; charset=klingon"), ("kept",)),
    Hostile("charset in a meta that lies",
            lambda: page(html(article("meta"), head="<meta charset=utf-16>"), "text/html"), ("kept",)),
    Hostile("noise announced as text", lambda: page(noise(300_000)), ("undecodable", "no_text", "too_short")),
)  # fmt: skip
