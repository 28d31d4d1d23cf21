"""A page of MediaWiki is left with its article: what the wiki's skin and its maintenance put around and into it goes.

By the classes that MediaWiki and the common templates of its wikis give, whatever the language: boxes that ask editors
for something, boxes of links to other articles, notes of a redirect, categories, what is not printed. Captions,
references and the rows of an infobox stay: they say something of the subject.
"""

from __future__ import annotations

from typing import Any

from lxml import etree

_GONE = frozenset(
    ("ambox", "tmbox", "ombox", "cmbox", "imbox", "fmbox", "mbox-small", "metadata", "navbox", "navbox-styles",
     "vertical-navbox", "NavFrame", "NavContent", "navbar", "BoxenVerschmelzen", "bandeau-container",
     "bandeau-article", "bandeau-portail", "catlinks", "mw-hidden-catlinks", "printfooter", "mw-redirectedfrom",
     "mw-editsection", "mw-indicators", "noprint", "shortdescription", "hatnote", "navigation-not-searchable",
     "sistersitebox", "sister-project", "portalbox", "portal-bar", "authority-control", "mw-authority-control",
     "toc", "vector-toc", "mw-table-of-contents-container", "mw-empty-elt", "geo-nondefault", "geo-multi-punct",
     "Z3988", "magnify", "mw-collapsible-toggle", "sidebar", "stub", "mw-stub", "asbox",
     "mw-kartographer-container", "vector-body-before-content", "mw-jump-link", "infobox-navbar",
     "page-header__categories", "tnavbar", "normdaten", "dablink", "rellink", "succession-box",
     "cita-requerida-aviso", "avisotemplate", "mw-pt-languages")
)  # fmt: skip
_IDS = frozenset(
    ("siteSub", "contentSub", "catlinks", "toc", "jump-to-nav", "normdaten", "mw-data-after-content", "footer-places")
)
_SIGNS = (b"mw-parser-output", b"mw-content-text", b"mw-body-content")
_NAMED = etree.XPath(".//*[@class or @id]")
_STYLES = frozenset({"style", "script", "link", "meta"})


def is_wiki(html: bytes) -> bool:
    """True where the page calls its parts as MediaWiki does."""
    return any(sign in html for sign in _SIGNS)


def drop_wiki_boxes(tree: Any, html: bytes) -> None:
    """Everything that is no part of the article, in place; nothing on pages of other software."""
    if not is_wiki(html):
        return
    for element in _NAMED(tree):
        if element.getparent() is None or element.tag in {"body", "html", "main"}:
            continue
        classes = (element.get("class") or "").split()
        if not _GONE.isdisjoint(classes) or element.get("id") in _IDS:
            element.drop_tree()
