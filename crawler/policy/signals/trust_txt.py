"""The detector `trust.txt` (JournalList): `datatrainingallowed=no` refuses the whole host.

The file stands at `/trust.txt` or `/.well-known/trust.txt` (reference document of JournalList, from 1.5 on with this
variable; draft-org-trust-relationship-protocol). Its readers stop at the first that is there; we ask both, because a no
in the other one would be a no all the same. A yes grants nothing that another signal denies.
"""

from __future__ import annotations

import re

from crawler.document import Signal
from crawler.policy.robots import parse as robots
from crawler.policy.signals.base import ALLOW, DISALLOW, Context, Detector, OptOutFile, signal

NAME = "trust.txt"
VERSION = "3"

_LINE = re.compile(rb"^[ \t]*datatrainingallowed[ \t]*[=:][ \t]*[\x22]?(yes|no)\b", re.IGNORECASE | re.MULTILINE)


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


_FILE = OptOutFile("/trust.txt", robots.unreadable, parse, from_file, also=("/.well-known/trust.txt",))
DETECTOR = Detector(NAME, VERSION, "trust.txt does not allow training", file=_FILE)
