"""How a URL is spelled inside the server: short, reversible, opaque to the Lua scripts.

A queue member is `[attempts.holds~]<kind><depth> <packed url>[ <packed redirect>]…`. The kind of a link that may be
ordered by its value is `l`, its shape, the shape of the page it stood on (`...` for none), a digit for where it stood,
and a letter for how many pages in a row on the way to it led to no new text (a version before wrote none). A packed
URL is one letter for scheme and form, what stands before the scope in the authority, and the path:
`https://www.example.org/a` in the scope `example.org` becomes `swww./a`. Canonical URLs contain neither spaces nor
tabs, which makes both safe separators. Parameters that were taken off the URL stand behind it: `?name&name`; behind
them the four letters of the page it was found on: `@aB3_`.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import xxhash

from crawler.frontier.model import Lease

_SCHEMES = {"s": "https://", "h": "http://"}
_KINDS = {"page": "p", "sitemap": "m"}
PRIORITY = 2**40
"""The score of a queue member is its sequence number less its priority times this."""
LEASE_FRONT = 14
"""Where the scope begins in a lease: behind the letter of its state and the 13 digits of its slot."""
NO_PARENT, _LINK = "...", "l"
MAX_RUN, _RUNS = 9, "abcdefghij"
_KIND_OF = {letter: kind for kind, letter in _KINDS.items()}


class Member(NamedTuple):
    """A queue member taken apart."""

    kind: str
    depth: int
    url: str
    redirects: tuple[str, ...]
    attempts: int  # tries that failed or expired
    holds: int
    shape: str = ""
    parent: str = ""  # shape of the page it was found on
    mark: int | None = None
    learned: tuple[str, ...] = ()
    run: int = 0
    source: str = ""  # letters of the page it was found on (`crawler.urls.candidate.source_id`)


def pack_origin(origin: str, scope: str) -> str:
    """Shorten scheme and authority (`https://www.example.org`) within their scope; the path follows unchanged."""
    scheme, _, host = origin.partition("://")
    letter = "s" if scheme == "https" else "h"
    return f"{letter}{host[: len(host) - len(scope)]}" if host.endswith(scope) else f"{letter.upper()}{host}"


def split_origin(url: str) -> tuple[str, str]:
    """A canonical http(s) URL as its origin and what follows, path first."""
    cut = url.find("/", 8)
    return (url[:cut], url[cut:]) if cut > 0 else (url, "")


def pack_url(url: str, scope: str) -> str:
    """Shorten a canonical http(s) URL within its scope."""
    origin, path = split_origin(url)
    return pack_origin(origin, scope) + path


def unpack_url(packed: str, scope: str) -> str:
    """Inverse of `pack_url`."""
    letter, (host, slash, path) = packed[0], packed[1:].partition("/")
    return f"{_SCHEMES[letter.lower()]}{host}{scope if letter.islower() else ''}{slash}{path}"


def pack(url: str, scope: str, *, kind: str, depth: int, redirects: tuple[str, ...] = ()) -> str:
    """The member of a URL that was not tried yet. Raises KeyError for an unknown kind."""
    return pack_parts(pack_url(url, scope), scope, kind=kind, depth=depth, redirects=redirects)


def pack_parts(
    packed: str,
    scope: str,
    *,
    kind: str,
    depth: int,
    redirects: tuple[str, ...] = (),
    facts: str = "",
    learned: tuple[str, ...] = (),
    source: str = "",
) -> str:
    """`pack` for a URL that is packed already. `facts`: what `link_facts` made, of a link that may be ordered."""
    head = f"{facts or _KINDS[kind]}{depth} {packed}"
    if learned:
        head = f"{head} ?{'&'.join(learned)}"
    if source:
        head = f"{head} @{source}"
    return " ".join((head, *(pack_url(r, scope) for r in redirects))) if redirects else head


def link_facts(shape: str, parent: str, mark: int, run: int = 0) -> str:
    """What the scripts order a link by: its shape, its parent's (both of three letters), its mark (0 to 9), its run."""
    return f"{_LINK}{shape}{parent or NO_PARENT}{mark}{_RUNS[min(run, MAX_RUN)]}"


def unpack(member: str, scope: str) -> Member:
    """Inverse of `pack`, with the attempts and holds that the scripts put in front."""
    attempts = holds = 0
    if member[0].isdigit():
        tally, _, member = member.partition("~")
        attempts, holds = map(int, tally.split("."))
    head, packed, *chain = member.split(" ")
    learned = tuple(chain.pop(0)[1:].split("&")) if chain and chain[0].startswith("?") else ()
    source = chain.pop(0)[1:] if chain and chain[0].startswith("@") else ""
    redirects = tuple(unpack_url(r, scope) for r in chain) if chain else ()
    kind, rest = head[0], head[1:]
    known: tuple[str, str, int | None] = ("", "", None)
    if kind == _LINK:
        kind, rest, known = "p", rest[7:], (rest[:3], rest[3:6].strip("."), int(rest[6]))
    run = max(0, _RUNS.find(rest[0]))
    depth = int(rest[1:] if rest[0].isalpha() else rest)
    return Member(
        _KIND_OF[kind], depth, unpack_url(packed, scope), redirects, attempts, holds, *known, learned, run, source
    )


def lease_of(token: bytes, kept: bytes, why: bytes, *, granted_at: float, expires_at: float, tries: int) -> Lease:
    """A lease as the server keeps it: `wire slot scope \\t member \\t score`. `why`: reasons, a line each."""
    text = kept.decode()
    scope, member, score = text[LEASE_FRONT:].split("\t")
    kind, depth, url, redirects, attempts, holds, shape, parent, mark, learned, run, source = unpack(member, scope)
    priority, reasons = -floor(float(score) / PRIORITY), tuple(why.decode().split("\n")) if why else ()
    return Lease(
        token.decode(), url, scope, kind, depth, attempts + 1, priority, redirects,
        expires_at, granted_at, int(text[1:LEASE_FRONT]), holds, attempts >= tries, reasons,
        None, shape, parent, mark, learned, "", run, source,
    )  # fmt: skip


def url_hash(url: str) -> int:
    """63-bit hash for the seen-set: as an integer it fits Redis' 8-byte intset entries."""
    return xxhash.xxh64_intdigest(url.encode()) >> 1


def shard_of(scope: str, shards: int) -> int:
    """The shard all URLs of a scope live in."""
    return xxhash.xxh64_intdigest(scope.encode()) % shards if shards > 1 else 0
