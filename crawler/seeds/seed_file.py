"""Seed files: one URL a line, `priority=N` behind it where it matters; and what to say about a line that is none."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from crawler.problems import InputError
from crawler.urls.canonicalize import address, canonicalize, printable
from crawler.urls.link import HIGHEST_PRIORITY, LOWEST_PRIORITY, SEED_PRIORITY

MAX_LINE = 10_000
"""Characters of a line that are read: no URL is longer."""

_UTF_16 = tuple(mark.decode(errors="surrogateescape") for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
_GZIP = b"\x1f\x8b".decode(errors="surrogateescape")
_COMMENT = re.compile(r"(?:^|[ \t])#")
_PRIORITY = re.compile(r"[ \t]+priority=(\S*)$")
_BLANK = re.compile(r"[ \t]+")
_PORT = re.compile(r"https?://[^/?#@]+(:[0-9]+)(?=[/?#]|$)", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?[0-9]{1,5}", re.ASCII)


class SeedLine(NamedTuple):
    """One line with something on it. `url` is what to request, or empty; `problem` says why there is none."""

    number: int
    url: str
    priority: int = SEED_PRIORITY
    problem: str = ""


def seed_lines(path: Path) -> Iterator[SeedLine]:
    """Each line that is neither blank nor a comment. Raises: InputError where the file cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as file:
            for number, line in enumerate(iter(lambda: _whole_line(file), ""), 1):
                if number == 1 and line.startswith(_UTF_16):
                    raise InputError([f"{path}: is UTF-16, as PowerShell's > writes it; save it as UTF-8"])
                if number == 1 and line.startswith(_GZIP):
                    raise InputError([f"{path}: is compressed with gzip; decompress it: gunzip -k {path.name}"])
                text = _COMMENT.split(line, maxsplit=1)[0].strip()
                if text:
                    yield _seed_line(number, text)
    except OSError as error:
        raise InputError([f"{path}: cannot be read: {error.strerror}"]) from None


def _seed_line(number: int, text: str) -> SeedLine:
    given = _PRIORITY.search(text)
    name = text[: given.start()] if given else text
    if problem := behind_url(name, "expected one URL a line and nothing behind it but priority=N"):
        return SeedLine(number, "", problem=problem)
    found = address(name, routes=True)
    if found is None:
        return SeedLine(number, "", problem=not_a_url(text))
    url = found.asked
    if given is None:
        return SeedLine(number, url)
    priority = int(given[1]) if _NUMBER.fullmatch(given[1]) else HIGHEST_PRIORITY + 1
    if LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
        return SeedLine(number, url, priority)
    expected = f"a whole number from {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}; a seed without it has {SEED_PRIORITY}"
    return SeedLine(number, url, problem=f"priority={printable(given[1])}: expected {expected}")


def _whole_line(file: IO[str]) -> str:
    """The next line, cut at MAX_LINE: no URL is longer, and a file without line ends must not fill the memory."""
    line = rest = file.readline(MAX_LINE)
    while rest and not rest.endswith("\n"):
        rest = file.readline(MAX_LINE)
    return line


def behind_url(text: str, expected: str) -> str:
    """Why a text with a blank is no seed, where its first word is a URL; else empty.

    As part of the URL, which WHATWG would make of it, a mistyped option would name a page that nobody meant.
    """
    url, *rest = _BLANK.split(text, maxsplit=1)
    if not rest or canonicalize(url) is None:
        return ""
    return f"found {printable(rest[0])} behind the URL: {expected}; a blank inside a URL is written %20"


def not_a_url(text: str) -> str:
    """What was expected instead of this text, and what may have been meant."""
    shown = printable(text)
    if any("\udc80" <= sign <= "\udcff" for sign in text):
        return f"expected a URL in UTF-8 (or with %XX for such bytes), found {shown}"
    if "://" not in text and canonicalize(f"https://{text}") is not None and "." in text:
        return f"expected an http(s) URL, found {shown}; did you mean 'https://{text[:100]}'?"
    if (port := _PORT.match(text)) and canonicalize(text[: port.start(1)] + text[port.end(1) :]) is not None:
        return f"expected a port from 1 to 65535, found {shown}"
    return f"expected an http(s) URL without user name, found {shown}"
