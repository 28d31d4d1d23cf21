"""The title is what the page calls itself, without the name of its site.

A headline (`<h1>`) that the declared title confirms is the title; else the declared one (OpenGraph, `<title>`) without
the part that names the site. Pages have headlines that are none: the name of the site above every page, the heading of
a box.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from crawler.stages.extraction.metadata.head import Head, shown
from crawler.urls.resolve import resolve

MAX_HEADLINES = 20
LONGEST = 300
"""Characters of a headline; what is longer is text."""
CONFIRMED, CONFIRMED_OF_MANY = 0.3, 0.8
"""Share of a headline's words that a declared title must have, where it is the only one and where it is one of several
(of .25, .3 and .5, and of .5 to 1; chosen on one half of the sites of wcxb-dev)."""
_UNSPACED = "[\u2e80-\u9fff\uac00-\ud7af\u3040-\u30ff\uff01-\uff60]"
_DIVIDER = re.compile(
    r"\s+(?:[|–—·•»«›:~/\\-]|::|-{2,})\s+|\s*[|»›｜︱│┃]\s*"
    rf"|(?<={_UNSPACED})\s*(?:[_＿]|[-—－–]{{1,2}})\s*(?=\S)|(?<=\S)\s*[_＿]\s*(?={_UNSPACED})"
)
"""Between the parts of a title; East Asian ones have no blanks around it."""
_BARS = frozenset({"nav", "header", "aside"})
_BAR_NAMES = re.compile(r"\b(?:menu|logo|brand|nav|navbar|sidebar|site|topbar)\b", re.IGNORECASE)
_BEHIND = re.compile(r"\s[–—|·•-]\s$")
_BAR = re.compile(r"\s*[|｜︱│┃_＿]\s*")
_SECTION_WORDS = 3
"""Words of the name of a section."""
_WORD = re.compile(r"\w+")
_NOT_LETTER = re.compile(r"[\W_]+")
_SITE_NAMES = ("og:site_name", "application-name", "apple-mobile-web-app-title")
_SHORTEST_PART = 4
"""Letters from which a part of the site's name, or one that has it in it, is recognised as it."""


class Site:
    """By what a page's site is called: its host, what the page declares, a headline that leads to the front page."""

    def __init__(self, url: str, head: Head) -> None:
        host = (urlsplit(url).hostname or "").removeprefix("www.")
        self._host = _letters(host)
        self._labels = [_letters(label) for label in host.split(".")[:-1] if len(label) > 2]
        sections = (*head.all("article:section", "article.section", "section"), *urlsplit(url).path.split("/")[:-1])
        self._sections = {letters for one in sections if (letters := _letters(one))}
        said = (head.first(one) for one in _SITE_NAMES)
        self._names = [name for one in said if (name := _letters(one)) and not _is_title(one, head)]

    def add(self, name: str) -> None:
        """Another name of it."""
        self._names.append(_letters(name))

    def is_called(self, text: str) -> bool:
        """True for a name of the site, or a part of one, and for no letters at all."""
        letters = _letters(text)
        if not letters or letters == self._host or letters in self._names or letters in self._labels:
            return True
        return _is_long_enough(letters) and any(letters in one for one in (*self._labels, *self._names))

    def has_section(self, text: str) -> bool:
        """True for the name of a part of the site, as the page's data or its address say it."""
        return _letters(text) in self._sections

    def may_be_called(self, text: str) -> bool:
        """True also for what has a name of the site in it: "Spoons Limited", but also "All of our spoons"."""
        letters = _letters(text)
        names = (one for one in (*self._labels, *self._names) if _is_long_enough(one))
        return self.is_called(text) or any(one in letters for one in names)


def _is_long_enough(letters: str) -> bool:
    """True for letters that are no chance; a character of East Asia says as much as two."""
    return len(letters) >= (_SHORTEST_PART if letters.isascii() else _SHORTEST_PART // 2)


def _is_title(name: str, head: Head) -> bool:
    """True for a name of the site that is the title of the page with the name behind it."""
    return name in {head.first("og:title"), head.title} and _DIVIDER.search(name) is not None


def find_title(h1s: Iterable[Any], url: str, head: Head, headline: str = "") -> str | None:
    """The title that the page shows or declares; None where there is none.

    h1s: its `<h1>` elements; headline: that of its linked data.
    """
    site = Site(url, head)
    shared = head.first("og:title")
    declared = [text for text in (shared, headline, head.title, head.first("twitter:title")) if text]
    headlines = [(one, text) for one in islice(h1s, MAX_HEADLINES) if (text := shown(one))]
    for one, text in headlines:
        if _is_name_of_site(one, text, head.title, url) or _is_name_of_book(one, text, head.title, site):
            site.add(text)
    texts = [text for _, text in headlines if len(text) <= LONGEST]
    enough = CONFIRMED_OF_MANY if len(texts) > 1 else CONFIRMED
    for text in texts:
        if _share_declared(text, declared) >= enough and not site.is_called(text):
            return _without_site(text, site, bar_is_enough=False) or text
    for text in (shared, head.title):
        if (own := _without_site(text, site)) and not site.is_called(own):
            return own
    own = _without_site(shared or head.title, site)
    return next((text for text in (own, *texts, *declared) if text), None)


def _share_declared(headline: str, declared: list[str]) -> float:
    """The largest share of a headline's words that a declared title has, 0 to 1; 1 where it has the whole."""
    letters = _letters(headline)
    if len(letters) >= _SHORTEST_PART and any(letters in _letters(text) for text in declared):
        return 1.0
    own = set(_WORD.findall(headline.lower()))
    shares = (len(own.intersection(_WORD.findall(text.lower()))) / len(own) for text in declared if own)
    return max(shares, default=0.0)


def _without_site(title: str, site: Site, *, bar_is_enough: bool = True) -> str:
    """A title without the parts at its ends that are names of the site; what stands behind a bar is one in any case."""
    parts = list(_DIVIDER.finditer(title))
    if parts and site.is_called(title[: parts[0].start()]):
        return title[parts[0].end() :]
    bar = ""
    while parts and site.may_be_called(title[parts[-1].end() :]):
        bar = parts[-1][0]
        title = title[: parts.pop().start()].rstrip()
    if parts and not bar and bar_is_enough and _BAR.fullmatch(parts[-1][0]):
        bar = parts[-1][0]
        title = title[: parts.pop().start()].rstrip()
    while parts and bar and _is_section(title, parts[-1], site, bar):
        title = title[: parts.pop().start()].rstrip()
    return title


def _is_section(title: str, divider: re.Match[str], site: Site, bar: str) -> bool:
    """True for a part before the name of the site that the page calls a section, or that stands between two bars."""
    last, before = title[divider.end() :], title[: divider.start()]
    if site.has_section(last):
        return True
    is_short = len(last.split()) <= _SECTION_WORDS and len(last) < len(before)
    return is_short and divider[0] == bar and _BAR.fullmatch(bar) is not None


def _is_name_of_site(element: Any, text: str, title: str, url: str) -> bool:
    """True for a headline that is all a link to another page and ends the title of this one, behind a divider."""
    rest = title.removesuffix(text)
    return rest != title and _DIVIDER.search(rest[-3:] + " ") is not None and _leads_away(element, text, url)


def _is_name_of_book(element: Any, text: str, title: str, site: Site) -> bool:
    """True for a headline in the bar over every page of a book, whose chapter the title names first: "Traits - Rust".

    In the text of a page it is the page's own: "Woodwork - Carving birch".
    """
    rest = title.removesuffix(text)
    if not rest or rest == title or _BEHIND.search(rest) is None or site.may_be_called(rest):
        return False
    around = islice((element, *element.iterancestors()), 4)
    return any(
        one.tag in _BARS or _BAR_NAMES.search(f"{one.get('class') or ''} {one.get('id') or ''}") for one in around
    )


def _leads_away(headline: Any, text: str, url: str) -> bool:
    link = headline.find(".//a[@href]")
    if link is None or shown(link) != text:
        return False
    target = resolve(url, link.get("href"))
    return target is not None and target.partition("#")[0] != (resolve(url, "") or url).partition("#")[0]


def _letters(text: str) -> str:
    return _NOT_LETTER.sub("", text.lower())
