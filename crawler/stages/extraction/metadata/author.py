"""The author is whom the page's data name; else whom its head names; else whom a by-line names.

A by-line is searched where the markup speaks of authors: links to a page of an author first, then elements whose class
or item property says so. What stands in a review, in a comment or in a teaser of another page names somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import islice
from typing import Any

from lxml.etree import XPath

from crawler.stages.extraction.metadata.head import Head, shown
from crawler.stages.extraction.metadata.linked import Linked
from crawler.stages.extraction.metadata.several import are_joined, is_a_person, parted
from crawler.stages.extraction.metadata.source import Source
from crawler.stages.extraction.metadata.title import Site

MAX_PLACES = 25
"""Elements that speak of authors which are looked at."""
LONGEST, MOST_WORDS = 60, 6
"""Characters and words of a name, organisations among them."""
PHONE_DIGITS = 7
"""Digits from which a name has a telephone number beside it."""
MAX_AUTHORS = 50
"""People of one page."""
_LONGEST_OF_SEVERAL = 600
"""Characters of a text that names several."""
_LONGEST_TEXT = 200
"""Characters of a name with all that stands before it."""
MOST_SHOWN_WORDS = 5
"""Words of a name in a by-line: what is longer says more than the name."""
_STATED = (
    "author", "article:author", "og:article:author", "article.author", "book:author", "parsely-author",
    "sailthru.author", "dc.creator", "dcterms.creator", "byl", "citation_author", "citation_authors",
)  # fmt: skip
_LAST_NAME_FIRST = frozenset({"citation_author", "citation_authors", "dc.creator", "dcterms.creator"})
_WRITTEN_BY = frozenset(
    {"written by", "author", "verfasst von", "escrito por", "écrit par", "scritto da", "geschreven door"}
)
_CUES = (b"uthor", b"yline", b"username")
"""One of them is in every attribute value that is looked for."""
_PLACES = XPath(
    '//body/descendant-or-self::*[@*[contains(., "uthor") or contains(., "yline") or contains(., "username")]'
    '[name() != "src"]]'
)
"""Elements with such attributes; of attributes and then `/..`, libxml2 compares each parent with all others."""
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
    site, found = Site(url, head), _Found()
    for names in map(_names_of, _declared(head, linked)):
        if found.is_whole_with(names, site):
            break
    is_searched = not found.names or (len(found.names) == 1 and (source is None or source.may_join(found.names[0])))
    for names in map(_names_of, _shown_in(tree, source)) if is_searched else ():
        if found.is_whole_with(names, site):
            break
    return "; ".join(found.names) or found.fallback


def _names_of(stated: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for one in stated for name in names_in(one)))[:MAX_AUTHORS]


@dataclass(slots=True)
class _Found:
    """The names that were read so far; `fallback`: what is the site's."""

    names: list[str] = field(default_factory=list)
    fallback: str | None = None

    def is_whole_with(self, names: list[str], site: Site) -> bool:
        """True where nobody has to be looked for any more."""
        together = "; ".join(names)
        if not names or site.is_called(together):
            self.fallback = self.fallback or together or None
        elif not self.names or (len(names) > 1 and _are_among(self.names, names)):
            self.names = names
        return len(self.names) > 1


def _are_among(some: list[str], names: list[str]) -> bool:
    """True where a page names more people elsewhere than those whom it states first."""
    return all(any(_letters(one) in _letters(name) for name in names) for one in some)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def names_in(text: str) -> list[str]:
    """The names in a text that should be one or more, without "by" before them."""
    if len(text) > _LONGEST_OF_SEVERAL:
        return []
    return [name for one in parted(_without_prefix(text)) if (name := name_in(one))]


def name_in(text: str) -> str:
    """The name in a few words that should be one, without "by" before it; "" where there is none."""
    if len(text) > _LONGEST_TEXT:
        return ""
    name = _without_prefix(text)
    if len(name) > LONGEST or len(name.split()) > MOST_WORDS or any(sign in name for sign in "@/"):
        return ""
    if name[:4].lower() == "www." or sum(map(str.isdigit, name)) >= PHONE_DIGITS:
        return ""
    return "" if _NO_NAME.fullmatch(name) or not _LETTER.search(name) else name


def _without_prefix(text: str) -> str:
    name = text.strip(_MARKS)
    while (prefix := _PREFIX.match(name)) is not None:
        name = name[prefix.end() :].strip(_MARKS)
    return name


def _declared(head: Head, linked: Linked) -> Iterator[Iterable[str]]:
    yield linked.authors
    yield from _stated(head)
    for number in "12":
        if head.first(f"twitter:label{number}").lower().rstrip(":") in _WRITTEN_BY:
            yield [head.first(f"twitter:data{number}")]


def _shown_in(tree: Any, source: Source | None) -> Iterator[Iterable[str]]:
    places = _places(tree, source)
    yield from _groups((link, names_in(shown(link))) for link in places if _leads_to_an_author(link))
    yield from _groups((place, _shown_names(place)) for place in places)


def _groups(places: Iterable[tuple[Any, list[str]]]) -> Iterator[list[str]]:
    """The names of each by-line: of elements between which nothing stands but what joins names."""
    group, last = list[str](), None
    for place, names in places:
        if not names:
            continue
        is_again = set(names) <= set(group)
        if group and not is_again and not (all(map(is_a_person, (group[-1], *names))) and are_joined(last, place)):
            yield group
            group = []
        group.extend(names)
        last = place
    yield group


def _stated(head: Head) -> Iterator[list[str]]:
    for name in _STATED:
        if said := head.all(name):
            parts = [part for one in said for part in unescape(one).split(";")]
            yield [_in_order(part.strip()) for part in parts] if name in _LAST_NAME_FIRST else parts


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


def _shown_names(place: Any) -> list[str]:
    """The names in an element whose class or property says that it has one: that of a part of it first."""
    names = f"{place.get('class') or ''} {place.get('itemprop') or ''}"
    if not _SPEAKS.search(names):
        return []
    if len(several := names_in(shown(place))) > 1:
        return several
    for one in (*islice(place.iterfind(".//*[@itemprop='name']"), 2), *islice(place.iter("a"), 2), place):
        name = name_in(shown(one))
        if name and len(name.split()) <= MOST_SHOWN_WORDS and ("username" in names or not any(map(str.isdigit, name))):
            return [name]
    return []
