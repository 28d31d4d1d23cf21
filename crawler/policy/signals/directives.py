"""The grammar shared by X-Robots-Tag and <meta name="robots">: comma-separated directives, some with a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crawler.policy.headers import http_date

_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_BOT = re.compile(r"\s*([A-Za-z0-9_.*-]{1,64})\s*:")
_SPLIT = re.compile(r"[\s;]+")


@dataclass(frozen=True, slots=True)
class Directive:
    """`bot` is the lower-case name it is addressed to ("" = everybody); `argument` is what follows its colon."""

    name: str
    argument: str = ""
    bot: str = ""


def parse_directives(value: str, named_bots: bool = False) -> list[Directive]:
    """The directives of one header or meta value, in order.

    With `named_bots` (X-Robots-Tag) a name before a colon addresses everything up to the next name. Dates contain
    commas: those of `unavailable_after` are put together again.
    """
    found: list[Directive] = []
    bot = ""
    for part in _join_dates(value.split(",")):
        head = _BOT.match(part) if named_bots else None
        if head and head[1].lower() not in _VALUED:
            bot = head[1].lower()
            found += _read(part[head.end() :], "" if bot == "*" else bot)
        else:
            found += _read(part, "" if bot == "*" else bot)
    return found


def _read(part: str, bot: str) -> Iterator[Directive]:
    name, colon, argument = part.partition(":")
    if colon and name.strip().lower() in _VALUED:
        yield Directive(name.strip().lower(), argument.strip(), bot)
        return
    for word in _SPLIT.split(part.lower()):
        if name := word.strip("\"'"):
            yield Directive(name, "", bot)


def _join_dates(parts: list[str]) -> Iterator[str]:
    """Give `unavailable_after: Wednesday` its `25-Jun-10 15:00:00 GMT` back."""
    waiting = ""
    for part in parts:
        if waiting:
            joined = f"{waiting},{part}"
            waiting = ""
            if _date_of(joined) is not None:
                yield joined
                continue
            yield joined.partition(",")[0]
        if "unavailable_after" in part.lower() and _date_of(part) is None:
            waiting = part
        else:
            yield part
    if waiting:
        yield waiting


def _date_of(part: str) -> float | None:
    return http_date(part.lower().rpartition("unavailable_after")[2].lstrip(" :"))
