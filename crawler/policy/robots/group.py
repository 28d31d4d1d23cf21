"""A group of robots.txt is for the bots that its User-agent lines name, by the RFC or perhaps by what was meant.

RFC 9309 section 2.2.1 knows one product token in a line, or `*`. Authors also write `Googlebot, *`, `*,`, `*bot` or a
whole User-Agent header: what such a line may have meant is kept apart, and may only forbid (`RobotsFile.decide`).
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from crawler.policy.glob import glob_matches
from crawler.policy.robots.match import Rule

EVERYBODY = "*"

_PRODUCT_TOKEN = re.compile(rb"[A-Za-z_-]+")
_RAW_NAME = re.compile(rb"[A-Za-z0-9_.-]+")
_ITEMS = re.compile(r"[\s,;()|\"']+")
_STARS = re.compile(r"\*+")


@dataclass(slots=True, frozen=True)
class Record:
    """One extension line: its lower-case key, its raw value, and the line number (from 1)."""

    key: str
    value: str
    line: int


@dataclass(slots=True)
class Group:
    """Consecutive user-agent lines and what follows them.

    `agents` are lower-case product tokens as RFC 9309 section 2.2.1 cuts them; `names` are the same values cut less
    (digits and dots kept), for bots such as `AI2Bot` whose names are no RFC tokens; `meant` is what else a line may
    name, `*` within a name standing for any characters. The values are line numbers, of which a record between them
    may depend (`RobotsFile.readings_of`).
    """

    agents: dict[str, int] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    meant: dict[str, int] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # empty lines among the User-agent lines

    def add(self, value: bytes, line: int) -> None:
        """Name the agents of one User-agent line."""
        if value[:1] == b"*" and (len(value) == 1 or value[1:2].isspace()):  # as Google's parser
            self.agents.setdefault(EVERYBODY, line)
        elif match := _RAW_NAME.match(value):
            self.names.setdefault(match[0].decode().lower(), line)
            if token := _PRODUCT_TOKEN.match(value):
                self.agents.setdefault(token[0].decode().lower(), line)
        for name in _perhaps_meant(value):
            if name not in self.agents and name not in self.names:
                self.meant.setdefault(name, line)

    def named_at(self, name: str, *, in_doubt: bool = False) -> int:
        """Line that names this agent (lower case) for the first time; sys.maxsize where none does.

        in_doubt: lines that may have meant it count, too.
        """
        found = [known[name] for known in (self.agents, self.names) if name in known]
        if in_doubt:
            found += [line for meant, line in self.meant.items() if _covers(meant, name)]
        return min(found, default=sys.maxsize)

    def is_together(self, record: int, agent: int) -> bool:
        """True where no empty line stands between the line of a record and a later User-agent line."""
        at = bisect_right(self.ends, record)
        return at == len(self.ends) or self.ends[at] > agent

    def may_mean(self, name: str) -> bool:
        """True where a line may have meant this bot (lower case) that the RFC does not read in it."""
        return any(_covers(meant, name) for meant in self.meant)


def _perhaps_meant(value: bytes) -> Iterator[str]:
    """Everything in a User-agent value that may be a name, in lower case."""
    for item in _ITEMS.split(value.decode("utf-8", "replace").lower()):
        if "*" in item:
            yield _STARS.sub("*", item)
        elif match := _RAW_NAME.search(item.encode()):  # behind a sign: `+Baiduspider`
            yield match[0].decode()
            if token := _PRODUCT_TOKEN.match(match[0]):
                yield token[0].decode()


def _covers(meant: str, name: str) -> bool:
    if "*" not in meant or EVERYBODY in (meant, name):
        return meant == name
    return glob_matches(meant.split("*"), name, anchored=True)
