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
_SIGNS = ("mw-parser-output", "mw-body-content", "mw-body")
_NAMED = etree.XPath(".//*[@class or @id]")


def is_wiki(classes: str) -> bool:
    """True where a page with these classes calls its parts as MediaWiki does."""
    return any(sign in classes for sign in _SIGNS)


def drop_wiki_boxes(tree: Any, classes: str) -> None:
    """Everything that is no part of the article, in place; nothing on pages of other software.

    classes: all of the page.
    """
    if not is_wiki(classes):
        return
    for element in _NAMED(tree):
        if element.getparent() is None or element.tag in {"body", "html", "main"}:
            continue
        if not _GONE.isdisjoint((element.get("class") or "").split()) or element.get("id") in _IDS:
            element.drop_tree()
