"""The author is whom the page's data name; else whom its head names; else whom a by-line names.

A by-line is searched where the markup speaks of authors: links to a page of an author first, then elements whose class
or item property says so. What stands in a review, in a comment or in a teaser of another page names somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import islice
from typing import Any

from lxml.etree import XPath

from crawler.stages.extraction.metadata.head import Head, shown
from crawler.stages.extraction.metadata.linked import Linked
from crawler.stages.extraction.metadata.source import Source
from crawler.stages.extraction.metadata.title import Site

MAX_PLACES = 25
"""Elements that speak of authors which are looked at."""
LONGEST, MOST_WORDS = 60, 6
"""Characters and words of a name, organisations among them."""
PHONE_DIGITS = 7
"""Digits from which a name has a telephone number beside it."""
_LONGEST_TEXT = 200
"""Characters of a name with all that stands before it."""
MOST_SHOWN_WORDS = 5
"""Words of a name in a by-line: what is longer says more than the name."""
_STATED = (
    "author", "article:author", "og:article:author", "article.author", "book:author", "parsely-author",
    "sailthru.author", "dc.creator", "dcterms.creator", "byl", "citation_author",
)  # fmt: skip
_LAST_NAME_FIRST = frozenset({"citation_author", "dc.creator", "dcterms.creator"})
_WRITTEN_BY = frozenset(
    {"written by", "author", "verfasst von", "escrito por", "écrit par", "scritto da", "geschreven door"}
)
_CUES = (b"uthor", b"yline", b"username")
"""One of them is in every attribute value that is looked for."""
_PLACES = XPath(
    '//body//@*[contains(., "uthor") or contains(., "yline") or contains(., "username")][name() != "src"]/..'
)
_PAGE_OF_AUTHOR = re.compile(r"/(?:authors?|people|team|contributors?|profile|users?)/")
_SPEAKS = re.compile(r"author|byline|username", re.IGNORECASE)
_ELSEWHERE = re.compile(r"review|comment|related|recommend|teaser|carousel|sidebar", re.IGNORECASE)
"""Names of what is around somebody else's name."""
_PREFIX = re.compile(
    r"(?:by|(?:this )?(?:article |post )?(?:was )?(?:written|posted|authored|published|edited|words|text|photos?)"
    r" by|article by|authors?|von|par|por|de|door|av|af|autor|auteur|autore|di)(?:\s*:\s*|\s+)",
    re.IGNORECASE,
)
_NO_NAME = re.compile(
    r"(?:topic )?authors?|admin(?:istrator)?|user|undefined|none|null|unknown|anonymous|guest|about the author|by"
    r"|editors?|staff|posted|written|team|published|share|follow|profile|website|home|blog|name ?\*?|article by",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_MARKS = " ,;|·-–—:*"


def find_author(tree: Any, url: str, head: Head, linked: Linked, source: Source | None = None) -> str | None:
    """The authors, with "; " between them; None where nobody is named. `source`: the page that the tree was made of.

    The name of the site itself is taken where there is no other.
    """
    site = Site(url, head)
    fallback = None
    for names in _statements(tree, head, linked, source):
        found = "; ".join(dict.fromkeys(name for one in names if (name := name_in(one))))
        if found and not site.is_called(found):
            return found
        fallback = fallback or found or None
    return fallback


def name_in(text: str) -> str:
    """The name in a few words that should be one, without "by" before it; "" where there is none."""
    if len(text) > _LONGEST_TEXT:
        return ""
    name = text.strip(_MARKS)
    while (prefix := _PREFIX.match(name)) is not None:
        name = name[prefix.end() :].strip(_MARKS)
    if len(name) > LONGEST or len(name.split()) > MOST_WORDS or any(sign in name for sign in "@/"):
        return ""
    if name[:4].lower() == "www." or sum(map(str.isdigit, name)) >= PHONE_DIGITS:
        return ""
    return "" if _NO_NAME.fullmatch(name) or not _LETTER.search(name) else name


def _statements(tree: Any, head: Head, linked: Linked, source: Source | None) -> Iterator[Iterable[str]]:
    yield linked.authors
    yield _stated(head)
    for number in "12":
        if head.first(f"twitter:label{number}").lower().rstrip(":") in _WRITTEN_BY:
            yield [head.first(f"twitter:data{number}")]
    places = _places(tree, source)
    yield from ([shown(link)] for link in places if _leads_to_an_author(link))
    yield from ([name] for place in places if (name := _shown_name(place)))


def _stated(head: Head) -> list[str]:
    for name in _STATED:
        if said := head.all(name):
            return (
                [_in_order(one) for one in said]
                if name in _LAST_NAME_FIRST
                else [p for s in said for p in unescape(s).split(";")]
            )
    return []


def _in_order(name: str) -> str:
    """ "Lovelace, Ada" is "Ada Lovelace"."""
    last, comma, first = name.partition(", ")
    return f"{first} {last}" if comma and "," not in first else name


def _places(tree: Any, source: Source | None) -> list[Any]:
    """Elements of the body that speak of authors, in page order, but those that speak of other people."""
    if source is not None and not source.may_have_in_attributes(*_CUES):
        return []
    return [place for place in islice(_PLACES(tree), MAX_PLACES) if not _is_elsewhere(place)]


def _is_elsewhere(place: Any) -> bool:
    around = islice((place, *place.iterancestors()), 8)
    return any(
        _ELSEWHERE.search(f"{one.get('class') or ''} {one.get('id') or ''}") for one in around if one.tag != "body"
    )


def _leads_to_an_author(place: Any) -> bool:
    if place.tag != "a":
        return False
    return "author" in (place.get("rel") or "").split() or _PAGE_OF_AUTHOR.search(place.get("href") or "") is not None


def _shown_name(place: Any) -> str:
    """The name in an element whose class or property says that it is one: that of a part of it first."""
    names = f"{place.get('class') or ''} {place.get('itemprop') or ''}"
    if not _SPEAKS.search(names):
        return ""
    for one in (*islice(place.iterfind(".//*[@itemprop='name']"), 2), *islice(place.iter("a"), 2), place):
        name = name_in(shown(one))
        if name and len(name.split()) <= MOST_SHOWN_WORDS and ("username" in names or not any(map(str.isdigit, name))):
            return name
    return ""
