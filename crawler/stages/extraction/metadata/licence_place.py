"""A statement of a licence that stands in a picture's caption, a quotation or a comment is of that, not of the page.

So is one whose sentence speaks of a part of the page, or whose microdata or RDFa is about another thing. Sources: HTML
standard (figure, blockquote, article in article, microdata); RDFa 1.1 (about, typeof); Creative Commons, "ccREL"
(dct:type).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from lxml.etree import iterwalk

from crawler.stages.extraction.metadata.linked import OTHERS, PAGES, named
from crawler.stages.extraction.metadata.linked_own import TEXTS, same_page
from crawler.urls.resolve import resolve

_MAX_ARTICLES = 50
_OF_A_CREDIT = "?ref=openverse"
"""Ends the address of the licence in the credits that Openverse writes for pictures."""
_OTHER_PLACES = frozenset({"figcaption", "blockquote", "pre", "code", "template", "noscript"})
_SHOWN = ("img", "picture", "svg", "video", "audio", "iframe", "embed", "object", "canvas", "table", "pre")
"""What figures are made of."""
_ELSEWHERE = re.compile(r"review|comment|related|recommend|teaser|carousel", re.IGNORECASE)
_OF_PICTURES = re.compile(r"caption|credit|photo|image|picture|gallery|thumb|attribution", re.IGNORECASE)
_BESIDE = 3
"""Elements around a statement whose names tell a picture's credit."""
_WHOLE_PAGE = frozenset({"html", "body", "main", "article"})
_OF_PAGE = PAGES | TEXTS | named("WPFooter WPSideBar WebSite Blog Document Item Text")
"""Types of what surrounds a statement about the page's text; RDFa of older generators (foaf, sioc) among them."""
_OTHER_WORKS = re.compile(r"dcmitype/(?!Text|Interactive|Collection)")
_BLOCKS = frozenset({"p", "li", "dd", "td", "div", "section", "footer", "aside", "address", "small", "body"})
_PART = re.compile(
    r"photo|foto|fotó|image|imagen|immagin|imagem|bild(?!ung)|picture|illustration|abbildung|graphic|grafik|video|audio"
    r"|artwork|drawing|wallpaper|background|plugin|widget|template"
    r"|\b(?:figures?|icons?|logos?|musi[ck]|sounds?|maps?|karten?|covers?|banners?|headers?|codes?|software|scripts?"
    r"|sources?|quellen?|data|daten|datasets?|themes?|design(?:ed)?|layout|fonts?|powered"
    r"|not (?:licen|under|avail|cover))",
    re.IGNORECASE,
)
"""What a sentence speaks of that does not speak of the text; what a page took from elsewhere among it."""
_WHOLE = re.compile(
    r"\b(?:text|texte|testo|texto|content|contents|documentation|contenu|contenido|conteúdo|contenuti|inhalt|inhalte"
    r"|inhalten)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.;!?|•·]\s")
_MAX_WALKED = 300


def is_of_another(statement: Any, url: str) -> bool:
    """True for what is said of a part of the page, or of another thing that it shows."""
    if (statement.get("href") or "").endswith(_OF_A_CREDIT):
        return True
    for depth, around in enumerate((statement, *statement.iterancestors())):
        if around.tag in _OTHER_PLACES or (around.tag == "article" and _is_one_of_many(around)):
            return True
        if around.tag == "figure" and not _is_badge(around, statement):
            return True
        if around.tag not in _WHOLE_PAGE | {"figure"} and _is_called_otherwise(around, depth):
            return True
        if _is_about_another(around, url) or (depth and _is_other_thing(around)):
            return True
    return _speaks_of_a_part(statement)


def _is_badge(figure: Any, statement: Any) -> bool:
    """True for a figure of which the only picture is that of the licence."""
    shown = list(islice(figure.iter(*_SHOWN), _MAX_WALKED))
    return bool(shown) and all(statement in one.iterancestors() for one in shown)


def _is_called_otherwise(element: Any, depth: int) -> bool:
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(_ELSEWHERE.search(names) or (depth <= _BESIDE and _OF_PICTURES.search(names)))


def _is_about_another(element: Any, url: str) -> bool:
    """RDFa: `about` names what the statements inside are about."""
    about = element.get("about")
    if about is None:
        return False
    return not same_page(resolve(url, about) or "", resolve(url, "") or url)


def _is_other_thing(element: Any) -> bool:
    """Microdata and RDFa: of a type that is not the page's, or in a place where other things stand."""
    types = f"{element.get('itemtype') or ''} {element.get('typeof') or ''}".split()
    if types and _OF_PAGE.isdisjoint(re.split(r"[/#:]", one)[-1] for one in types):
        return True
    return "itemscope" in element.attrib and not OTHERS.isdisjoint((element.get("itemprop") or "").split())


def _is_one_of_many(article: Any) -> bool:
    """True for an `<article>` inside of another (a comment), and for one of several that has no `<h1>`."""
    if next(article.iterancestors("article"), None) is not None:
        return True
    if next(article.iter("h1"), None) is not None:
        return False
    others = article.getroottree().iter("article")
    return any(one is not article and article not in one.iterancestors() for one in islice(others, _MAX_ARTICLES))


def _speaks_of_a_part(statement: Any) -> bool:
    """True where the sentence around a link speaks of a part of the page, or names a type of work that is no text."""
    block = next((one for one in statement.iterancestors() if one.tag in _BLOCKS), None)
    if block is None or statement.tag in {"meta", "link"}:
        return False
    if any(_OTHER_WORKS.search(one.get("href") or "") for one in islice(block.iterfind(".//*[@href]"), _MAX_WALKED)):
        return True
    before, after = _around(block, statement)
    before, after = _SENTENCE.split(before)[-1], _SENTENCE.split(after)[0]
    said = before if any(map(str.isalpha, before)) else after
    return _PART.search(said) is not None and _WHOLE.search(said) is None


def _around(block: Any, statement: Any) -> tuple[str, str]:
    """The texts of a block before and behind an element of it."""
    texts: tuple[list[str], list[str]] = ([], [])
    behind = inside = False
    for event, element in islice(iterwalk(block, events=("start", "end")), 2 * _MAX_WALKED):
        if element is statement:
            inside, behind = event == "start", True
        if inside or not isinstance(element.tag, str):
            continue
        text = element.text if event == "start" else element.tail if element is not block else None
        texts[behind].append(text or "")
    return " ".join("".join(texts[0]).split())[-500:], " ".join("".join(texts[1]).split())[:500]
