"""The detector `trust.txt` (JournalList): `datatrainingallowed=no` refuses the whole host."""

from __future__ import annotations

import re

from crawler.document import Signal
from crawler.policy.robots import parse as robots
from crawler.policy.signals.base import ALLOW, DISALLOW, Context, Detector, OptOutFile, signal

NAME = "trust.txt"
VERSION = "2"

_LINE = re.compile(rb"^[ \t]*datatrainingallowed[ \t]*=[ \t]*(yes|no)\b", re.IGNORECASE | re.MULTILINE)


def parse(body: bytes) -> list[str]:
    """Every answer in the file, "yes" or "no"."""
    lines = b"\n".join(robots.utf8(body).splitlines())
    return [match[1].decode().lower() for match in _LINE.finditer(lines)]


def from_file(parsed: list[str], _path: str, _context: Context) -> list[Signal]:
    """One signal per answer; a refusal wins later."""
    return [
        signal(NAME, "well-known", f"datatrainingallowed={answer}", DISALLOW if answer == "no" else ALLOW)
        for answer in parsed
    ]


DETECTOR = Detector(NAME, VERSION, file=OptOutFile("/trust.txt", robots.unreadable, parse, from_file))
