"""What a detector is, what it is told, and which statements count as a no in which profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from crawler.document import Signal
from crawler.policy.headers import Headers, escaped
from crawler.policy.robots.parse import RobotsFile

Metas = Iterable[tuple[str, str]]
"""(lower-case name, content) of every <meta name=…>."""
Links = Iterable[tuple[str, str, str]]
"""(rel, type, href) of every <link> in the head."""

ALLOW, DISALLOW, UNKNOWN = "allow", "disallow", "unknown"

AI_DIRECTIVES = frozenset({"noai", "noimageai", "noml"})
"""Refuse AI use in so many words; they count in every profile."""
INDEX_DIRECTIVES = frozenset({"noindex", "none", "noarchive", "nocache"})
"""Refuse indexing or keeping a copy; a corpus does both, so they count in `strict`."""


@dataclass(frozen=True, slots=True)
class Context:
    """Who asks, under which profile ("strict", "balanced", "minimal"), and when (seconds since the epoch)."""

    product_token: str
    profile: str
    now: float

    def verdict_of(self, directive: str) -> str:
        """What a robots directive (meta or X-Robots-Tag) means for training under this profile."""
        if directive in AI_DIRECTIVES or (directive in INDEX_DIRECTIVES and self.profile == "strict"):
            return DISALLOW
        return UNKNOWN

    def is_me(self, name: str) -> bool:
        """True where a rule addressed to `name` is addressed to this crawler, alone or with all others."""
        return name.lower() in {"", "*", "robots", self.product_token.lower()}


@dataclass(frozen=True, slots=True)
class OptOutFile:
    """An optional file at a fixed path of the host, fetched once and kept like robots.txt.

    `unreadable(body)` says why a body is no such file ("" = it is one); `parse(body)` reads it; `signals(parsed, path,
    context)` gives its statements about one path. `in_minimal`: the profile `minimal` asks for it, too. `noted` names
    it in OPTOUT_NOTED_FILES: such a file is fetched only where it is listed there, and never holds a host.
    `also`: further paths at which the protocol lets it stand; all are asked, and each speaks for itself.
    """

    path: str
    unreadable: Callable[[bytes], str]
    parse: Callable[[bytes], Any]
    signals: Callable[[Any, str, Context], list[Signal]]
    in_minimal: bool = False
    noted: str = ""
    also: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """Every path at which the file may stand."""
        return self.path, *self.also


@dataclass(frozen=True, slots=True)
class Detector:
    """One declared protocol: its name and version, and a function for each carrier it can stand in.

    refusal: what its refusal means, in words, for `optout`; "" = its statements are recorded and never decide.
    in_minimal: the profile `minimal` obeys it. resolve: for a protocol in which a statement in the body overrules one
    in the header, so that it is decided on the body only: `resolve(signals, url)` answers the statement that counts
    among those of all protocols, None where none does; url: the page's, for relative links. Another package adds a
    protocol by the entry-point group `gristmill.signals`; it can refuse, and never allow (`outside.py`).
    """

    name: str
    version: str
    refusal: str = ""
    headers: Callable[[Headers, Context], list[Signal]] | None = None
    metas: Callable[[Metas, Context], list[Signal]] | None = None
    links: Callable[[Links, Context], list[Signal]] | None = None
    robots: Callable[[RobotsFile, str, Context], list[Signal]] | None = None
    file: OptOutFile | None = None
    in_minimal: bool = True
    resolve: Callable[[list[Signal], str], Signal | None] | None = None


def signal(protocol: str, carrier: str, value: str, verdict: str) -> Signal:
    """A Signal whose raw value is escaped and cut for the record."""
    return Signal(protocol, carrier, escaped(value), verdict)
