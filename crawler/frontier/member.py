"""How a link is spelled inside the server: declared once, for Python here and for the scripts in Lua.

A member of a queue is one of two templates; behind its packed URL stand the spelling in which it was found, where that
is another one, and the packed URLs of its redirects. Once a try has failed
or the URL was on hold, `attempts.holds~` stands behind the version; only the scripts write that. The constants by which
the scripts read members and leases (`lua_…`) are made of the templates, too. The version begins every member, and the
rules of a crawl name it: a worker that knows another one is refused, and a member of another one is never misread.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import floor
from string import Formatter
from typing import NamedTuple

from crawler.frontier.model import Lease
from crawler.frontier.packing import pack_url, split_origin, unpack_url
from crawler.server.errors import FrontierError
from crawler.urls.link import Link

FORMAT = 7
"""Of members and of the tables beside the queues; it changes with either."""
_VERSION = chr(ord("0") + FORMAT)
_LINK = _VERSION + "l{source:.<4}{shape:.<3}{parent:.<3}{mark:1}{run:1}{depth} {urls}"
"""A link of a page, which may be ordered by its value. Dots stand for what is not known."""
_LISTED = _VERSION + "{kind:1}{source:.<4}{depth} {urls}"
"""A seed, a page or file that a sitemap lists, or the target of a redirect of one."""
_LEASE = "{wire:1}{slot:0>13}{scope}\t{member}\t{score}"
"""`wire`: o = a request may be under way, c = over, d = no try left. `slot`: when its scope may be asked again, in ms.
`score`: what the member had in its queue."""
_KINDS = {"page": "p", "sitemap": "m"}
_MAX_RUN = 9
NO_SHAPE, NO_SOURCE = "...", "...."
PRIORITY = 2**40
"""The score of a queue member is its sequence number less its priority times this."""


class Member(NamedTuple):
    """A queue member taken apart: its link, tries that failed, holds, and the shape of its URL where it was kept."""

    link: Link
    attempts: int
    holds: int
    shape: str


def _fields(template: str) -> dict[str, int]:
    """The fields of a template in their order, with their width in characters; 0 where it varies."""
    return {name or "": int((spec or "").lstrip(".<0>") or 0) for _, name, spec, _ in Formatter().parse(template)}


def _pattern(template: str) -> re.Pattern[str]:
    """What reads a template, with a group for each field; one of any width ends before what stands behind it."""
    text, widths, fields = "", _fields(template), list(Formatter().parse(template))
    for (before, name, _, _), (behind, *_) in pairwise([*fields, ("", None, None, None)]):
        width = widths[name or ""]
        text += f"{re.escape(before)}(?P<{name}>{f'.{{{width}}}' if width else f'[^{behind}]*' if behind else '.*'})"
    return re.compile(text)


_TALLY = re.compile(rf"{_VERSION}(\d+)\.(\d+)~")
_READ_LINK, _READ_LISTED, _READ_LEASE = map(_pattern, (_LINK, _LISTED, _LEASE))
_KIND_OF = {letter: kind for kind, letter in _KINDS.items()}


def pack(link: Link, scope: str, *, shape: str = "", packed: str = "") -> str:
    """The member of a link that was not tried yet. Raises: KeyError for an unknown kind.

    `shape`: of its URL (three letters), where it has a mark. `packed`: its URL as `pack_url` shortens it, if known.
    """
    urls = packed or pack_url(link.url, scope)
    if link.found:
        urls = f"{urls} {split_origin(link.found)[1]}"
    if link.redirects:
        urls = " ".join((urls, *(pack_url(one, scope) for one in link.redirects)))
    if link.mark is None:
        return _LISTED.format(kind=_KINDS[link.kind], source=link.source, depth=link.depth, urls=urls)
    run = min(link.run, _MAX_RUN)
    return _LINK.format(
        source=link.source, shape=shape, parent=link.parent, mark=link.mark, run=run, depth=link.depth, urls=urls
    )


def split(member: str) -> tuple[int, int, str]:
    """Attempts, holds, and the member as it was before any of them. Raises: FrontierError for another version's."""
    if tried := _TALLY.match(member):
        return int(tried[1]), int(tried[2]), _VERSION + member[tried.end() :]
    if not member.startswith(_VERSION):
        raise FrontierError(f"a URL was queued by another version of this program as {member[:100]!r}: use that one")
    return 0, 0, member


def unpack(member: str, scope: str, priority: int = 0) -> Member:
    """Inverse of `pack`, with what the scripts put in front. Raises: FrontierError for what cannot be read.

    `priority` is the link's; its member does not say it.
    """
    attempts, holds, rest = split(member)
    given = _read(_READ_LINK if rest.startswith(_VERSION + "l") else _READ_LISTED, rest)
    try:
        packed, *more = given["urls"].split(" ")
        url = unpack_url(packed, scope)
        found = split_origin(url)[0] + more.pop(0) if more and more[0].startswith("/") else ""
        link = Link(
            url,
            found=found,
            priority=priority,
            depth=int(given["depth"]),
            kind=_KIND_OF[given.get("kind", "p")],
            redirects=tuple(unpack_url(one, scope) for one in more),
            mark=int(given["mark"]) if "mark" in given else None,
            parent=given.get("parent", "").strip("."),
            run=int(given.get("run", 0)),
            source=given["source"].strip("."),
        )
    except (IndexError, KeyError, ValueError):
        raise _unreadable(member) from None
    return Member(link, attempts, holds, given.get("shape", "").strip("."))


def lease_of(
    token: bytes, kept: bytes, why: bytes, *, granted_at: float, expires_at: float, alone: bool = False
) -> Lease:
    """A lease as the server keeps it. `why`: reasons, a line each. Raises: FrontierError for what cannot be read."""
    given = _read(_READ_LEASE, kept.decode())
    priority = -floor(float(given["score"]) / PRIORITY)
    link, attempts, holds, shape = unpack(given["member"], given["scope"], priority)
    return Lease(
        token=token.decode(),
        link=link,
        shape=shape,
        scope=given["scope"],
        attempt=attempts + 1,
        holds=holds,
        exhausted=given["wire"] == "d",
        alone=alone,
        reasons=tuple(why.decode().split("\n")) if why else (),
        granted_at=granted_at,
        expires_at=expires_at,
        slot=int(given["slot"]),
    )


def leased(kept: bytes) -> tuple[str, str]:
    """Scope and member of a lease as the server keeps it. Raises: FrontierError for what cannot be read."""
    given = _read(_READ_LEASE, kept.decode())
    return given["scope"], given["member"]


def _read(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise _unreadable(text)
    return found.groupdict()


def _unreadable(text: str) -> FrontierError:
    return FrontierError(f"what the frontier keeps of a URL cannot be read: {text[:100]!r}")


def lua_front() -> str:
    """What every script begins with: how the front of a lease is read, and where a digit begins `attempts.holds~`."""
    lease, widths = _places(_LEASE), _fields(_LEASE)
    return (
        f"local SLOT, SLOT_AT, SCOPE_AT = '%0{widths['slot']}.0f', {lease['slot']}, {lease['scope']}\n"
        f"local KIND_AT, PRIORITY = {len(_VERSION) + 1}, {PRIORITY}\n"
    )


def lua_members() -> str:
    """What common.lua begins with: where fields of a link begin and end, from 1 as Lua counts, and how they are read.

    FACTS reads shape, parent, mark, run and depth from SHAPE_AT on, and URL the packed URL from DEPTH_AT on.
    """
    link, widths = _places(_LINK), _fields(_LINK)
    facts = "".join(f"({'.' * widths[name]})" for name in ("shape", "parent", "mark", "run"))
    return (
        f"local NO_SOURCE, VERSION, LINK, SITEMAP = '{NO_SOURCE}', '{_VERSION}', {ord('l')}, {ord(_KINDS['sitemap'])}\n"
        f"local SOURCE_AT, SHAPE_AT, SHAPE_TO = {link['source']}, {link['shape']}, {link['parent'] - 1}\n"
        f"local RUN_AT, DEPTH_AT, FACTS, URL = {link['run']}, {link['depth']}, '^{facts}(%d+)', '^%d+ (%S+)'\n"
    )


def lua_visits() -> str:
    """What visits.lua begins with: the front of a page that is no link, up to its depth."""
    return f"local LISTED = '{_VERSION}{_KINDS['page']}{NO_SOURCE}'\n"


def _places(template: str) -> dict[str, int]:
    """Where its fields begin, up to the first whose width varies, from 1."""
    at, places = 1 + len(template.partition("{")[0]), dict[str, int]()
    for name, width in _fields(template).items():
        places.setdefault(name, at)
        if not width:
            break
        at += width
    return places
