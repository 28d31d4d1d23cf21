"""Which query parameter changes the page? Each page that was fetched is a witness; `parameters.lua` compares them.

Two URLs of which one parameter alone differs are a pair. Where the pages of enough pairs are the same, the parameter
names no page: a session, a campaign, the order of a list that the text does not show. Pure functions of canonical URLs.
Source of the idea: Bar-Yossef, Keidar, Schonfeld, "Do not crawl in the DUST" (WWW 2007); here by equal text instead of
by rules that are guessed from a log.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import xxhash

from crawler.urls.tracking import SIGNATURES

MAX_PARAMETERS = 6
"""Parameters of one URL that are looked at; with more of them it says too little about each."""
MAX_NAME = 32
"""Characters of a parameter's name."""
IN_MAIN_TEXT = 1
"""Highest mark (`crawler.stages.parse.marks`) of a link that belongs to a page's own content."""
SAMPLE = 32
"""Of so many pages one is asked under all its addresses, whatever was learned: a parameter may begin to matter."""

_PLACE = (1 << 40) - 1
_VALUE = (1 << 23) - 1


def evidence(url: str, page: int, *, leads_on: bool = False) -> str:
    """A page as a witness, for the acknowledgement of its lease: `page&=…&name=…`.

    `page` says what was found there (`page_identity`), 0 = no text. After it stand the hashes of the URL and
    of the URL without any parameter and, for each parameter, of the URL without it, of its values and of its name: 10
    and 10, 10, 6 and 10 hex digits. A signed URL is no witness.
    `leads_on`: the page has links with parameters, so it is worth remembering although its URL has none.
    """
    found = _parameters(url)
    if found is None:
        return "-"
    parts = [f"{'!' if leads_on else ''}{page:08x}", f"={_place(url):010x}{_place(url.partition('?')[0]):010x}"]
    for name in found if len(found) <= MAX_PARAMETERS else ():
        values = _hash("&".join(found[name])) & _VALUE or 1
        parts.append(f"{name}={_place(without(url, (name,))):010x}{values:06x}{_place(name):010x}")
    return "&".join(parts)


def page_identity(text_digest: str, links: Sequence[str], marks: Sequence[int]) -> int:
    """32 bits for what a page says and where its main part leads, never 0. A list that turns its pages is no copy.

    Of a link counts the path and the names of its parameters: their values carry the session.
    """
    main = (link for link, mark in zip_longest(links, marks[: len(links)], fillvalue=0) if int(mark) <= IN_MAIN_TEXT)
    shapes = sorted(_nameless(str(link)) for link in main)
    return _hash("\n".join((text_digest, *shapes))) & 0xFFFFFFFF or 1


def without(url: str, names: Iterable[str]) -> str:
    """The URL less these parameters; the others keep their order and spelling."""
    base, mark, query = url.partition("?")
    unwanted = set(names)
    kept = [part for part in query.split("&") if part.partition("=")[0] not in unwanted]
    return f"{base}?{'&'.join(kept)}" if mark and kept else base


def named(url: str, names: Iterable[str]) -> tuple[str, ...]:
    """Which of these parameters the URL has, in their order; none of a signed URL."""
    if "?" not in url:
        return ()
    there = _parameters(url) or {}
    return tuple(name for name in names if name in there)


def is_sample(url: str, names: Iterable[str]) -> bool:
    """True for all addresses of a page that goes on to be asked under each of them."""
    return _hash(without(url, names)) % SAMPLE == 0


def _parameters(url: str) -> dict[str, list[str]] | None:
    """Values by name; None where the query is signed: every byte of it counts."""
    found: dict[str, list[str]] = {}
    _, _, query = url.partition("?")
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        if name.lower() in SIGNATURES:
            return None
        if name and len(name) <= MAX_NAME:
            found.setdefault(name, []).append(value)
    return found


def _nameless(link: str) -> str:
    path, _, query = link.partition("?")
    return f"{path}?{'&'.join(sorted(part.partition('=')[0] for part in query.split('&')))}"


def _place(text: str) -> int:
    return _hash(text) & _PLACE


def _hash(text: str) -> int:
    return xxhash.xxh64_intdigest(text.encode())
