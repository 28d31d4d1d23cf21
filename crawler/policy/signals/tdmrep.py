"""TDM Reservation Protocol (W3C community group): `tdm-reservation` in a well-known file, as a header and as a meta.

The page speaks louder than the header, the header louder than the site's well-known file. Values other than 0 and 1 are
as good as absent, and absence never resets what another carrier said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from crawler.document import Signal
from crawler.policy.headers import Headers, values_of
from crawler.policy.robots.match import Rule, RuleSet, normalize
from crawler.policy.signals.base import ALLOW, DISALLOW, UNKNOWN, Context, Detector, Metas, OptOutFile, signal

NAME = "tdmrep"
VERSION = "2"

_ORIGIN = re.compile(r"\Ahttps?://[^/?#*]*", re.IGNORECASE)
_VERDICTS = {"1": DISALLOW, "0": ALLOW}
_PRECEDENCE = ("meta", "header", "well-known")


def from_headers(headers: Headers, _context: Context) -> list[Signal]:
    """Each tdm-reservation header line."""
    return [_signal("header", value, _in_list(value)) for value in values_of(headers, b"tdm-reservation")]


def from_metas(metas: Metas, _context: Context) -> list[Signal]:
    """Each <meta name="tdm-reservation">."""
    return [_signal("meta", content) for name, content in metas if name.strip().lower() == "tdm-reservation"]


def resolve(signals: Iterable[Signal], _url: str = "") -> Signal | None:
    """The one statement that counts, by precedence; within one carrier a reservation wins. None where none does."""
    stated = [s for s in signals if s.protocol == NAME and s.verdict != UNKNOWN]
    for carrier in _PRECEDENCE:
        found = [s for s in stated if s.carrier == carrier]
        if found:
            return next((s for s in found if s.verdict == DISALLOW), found[0])
    return None


def _signal(carrier: str, value: str, stated: str | None = None) -> Signal:
    return signal(NAME, carrier, value, _VERDICTS.get((value if stated is None else stated).strip(), UNKNOWN))


def _in_list(value: str) -> str:
    """What a header says whose lines a proxy has joined (RFC 9110 section 5.3), parameters left out."""
    stated = {item.partition(";")[0].strip() for item in value.split(",")}
    return "1" if "1" in stated else "0" if stated == {"0"} else ""


def unreadable(body: bytes) -> str:
    """Why this JSON cannot be read; a body that is no JSON at all is some other file and says nothing."""
    return "" if _rules(body) is not None else "/.well-known/tdmrep.json is broken JSON"


def parse(body: bytes) -> list[tuple[RuleSet, str]]:
    """(location, reservation) in the order of the file."""
    found = []
    for rule in _rules(body) or []:
        location = rule.get("location") if isinstance(rule, dict) else None
        paths = [_path(one) for one in (location if isinstance(location, list) else [location]) if isinstance(one, str)]
        if paths:
            pattern = RuleSet(Rule(True, path.encode("utf-8", "replace"), 0) for path in paths)
            found.append((pattern, _stated(rule.get("tdm-reservation", ""))))
    return found


def _stated(value: Any) -> str:
    """0 and 1 however JSON writes them: as numbers, truth values or text."""
    return str(int(value)) if isinstance(value, int | float) and value in {0, 1} else str(value)


def _path(location: str) -> str:
    """The path that a location means, also where it is written as a whole URL or without its slash."""
    path = _ORIGIN.sub("", location)
    return path if path.startswith(("/", "*")) else f"/{path}"


def from_file(parsed: list[tuple[RuleSet, str]], path: str, _context: Context) -> list[Signal]:
    """The first rule whose location matches (section 6.1 of the report)."""
    target = normalize(path.encode("utf-8", "surrogatepass"))
    return next(([_signal("well-known", value)] for pattern, value in parsed if pattern.match(target)), [])


def _rules(body: bytes) -> list[Any] | None:
    """The rules of the file; empty where it is no JSON array or object, None where it is a broken one."""
    encoding = json.detect_encoding(body)
    if not body.decode(encoding, "replace").lstrip("\ufeff \t\r\n").startswith(("[", "{")):
        return []
    try:
        content = json.loads(body.decode(encoding).lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, list) else [content]


_FILE = OptOutFile("/.well-known/tdmrep.json", unreadable, parse, from_file, in_minimal=True)
DETECTOR = Detector(
    NAME,
    VERSION,
    "text and data mining is reserved (TDMRep)",
    headers=from_headers,
    metas=from_metas,
    file=_FILE,
    resolve=resolve,
)
