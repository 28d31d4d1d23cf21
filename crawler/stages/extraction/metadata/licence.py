"""The licence of a page's text is the Creative Commons one that all its own statements name; else there is none.

Statements are links with rel=license, `<meta>` of Dublin Core, microdata and RDFa, and the JSON-LD of this page; where
there is none of these, links in the footer. Who reads the record relies on it, so a statement about something else
(a picture, a quotation, a comment, another page, a theme) is left out, and one that names another licence, or terms
that nobody can read here, leaves the page without any. Sources: HTML standard, section 4.6.7.9 (rel=license: the main
content of the document); RFC 4946 (several such links); schema.org (license); Dublin Core (license, rights); Creative
Commons, "ccREL" (2008).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from lxml.etree import XPath

from crawler.stages.extraction.metadata.creative_commons import licence_at, licence_called
from crawler.stages.extraction.metadata.head import shown
from crawler.stages.extraction.metadata.licence_place import is_of_another
from crawler.stages.extraction.metadata.source import Source

MAX_STATEMENTS = 50
"""Statements of one kind that are read."""
UNKNOWN = ""
"""A statement of terms that cannot be read here."""
_RELATIONS = frozenset({"license", "cc:license", "dct:license", "dcterms:license", "schema:license"})
_METAS = frozenset(
    {
        "license", "licence", "cc:license", "dct:license", "dc.license", "dc:license", "dcterms.license",
        "dcterms:license", "dc.rights.license", "schema:license",
    }
)  # fmt: skip
_RIGHTS = frozenset({"dc.rights", "dc:rights", "dcterms.rights", "dcterms:rights", "rights", "copyright"})
"""Where notices of copyright stand as well: only what is a licence and nothing else is read."""
_TERMS = _METAS | _RIGHTS
_STATED = XPath('//body//*[@itemprop or @property][contains(concat(@itemprop, " ", @property), "icense")]')
_NOT_COPYRIGHT = "application/rsl+xml"
"""Terms for machines, which policy reads."""

_NEAR = 10
"""Elements above a link among which a footer is looked for."""


def find_licence(
    tree: Any,
    url: str,
    *,
    links: Iterable[Any] = (),
    metas: Iterable[Any] = (),
    linked: Iterable[tuple[str, ...]] = (),
    source: Source | None = None,
) -> str | None:
    """SPDX identifier of the licence that this page gives its text; None where it names none, or more than one.

    links: its `<link>` and `<a>`; metas: its `<meta>`; linked: what the page's own linked data call its licence, each
    statement as the texts it is made of; source: the page that the tree was made of.
    """
    related, below = [], []
    for link in links:
        rel = link.get("rel")
        if rel and "icense" in rel.lower() and _is_license(link):
            related.append(link)
        elif _may_name_one(link.get("href") or "", link.text or "") and link.tag == "a":
            below.append(link)
    stated = _places(tree, source)
    found = {
        *(_read(texts) for texts in linked),
        *(_meant(meta, url) for meta in islice(_known(metas), MAX_STATEMENTS)),
        *(_read_element(one) for one in islice((*related, *stated), MAX_STATEMENTS) if not is_of_another(one, url)),
    }
    found.discard(None)
    if not found:
        footer = (link for link in islice(below, MAX_STATEMENTS) if _is_in_footer(link))
        found.update(_read_element(link) for link in footer if not is_of_another(link, url))
        found.discard(UNKNOWN)
    return found.pop() or None if len(found) == 1 else None


def _is_license(link: Any) -> bool:
    relations = (link.get("rel") or "").lower().split()
    return not _RELATIONS.isdisjoint(relations) and link.get("type") != _NOT_COPYRIGHT


def _may_name_one(address: str, text: str) -> bool:
    return "creativecommons" in address or "CC" in text or "reative" in text


def _known(metas: Iterable[Any]) -> Iterator[Any]:
    return (meta for meta in metas if _name_of(meta) in _TERMS)


def _name_of(meta: Any) -> str:
    return (meta.get("name") or meta.get("property") or meta.get("itemprop") or "").strip().lower()


def _meant(meta: Any, url: str) -> str | None:
    """What a `<meta>` says; None where that is no licence, or one of something else in the body."""
    content = meta.get("content") or ""
    said = _read((content,)) if content.strip() else None
    if said == UNKNOWN and _name_of(meta) in _RIGHTS:
        return None
    return None if is_of_another(meta, url) else said


def _places(tree: Any, source: Source | None) -> list[Any]:
    """Elements whose microdata or RDFa names a licence, but `<meta>` and links that are read anyway."""
    if source is not None and not source.may_have_in_properties(b"icense"):
        return []
    return [place for place in _STATED(tree) if place.tag != "meta" and not _is_license(place) and _states_one(place)]


def _states_one(place: Any) -> bool:
    in_item = any("itemscope" in one.attrib for one in place.iterancestors())
    properties = (place.get("property") or "").lower().split()
    return (in_item and "license" in (place.get("itemprop") or "").split()) or not _RELATIONS.isdisjoint(properties)


def _read_element(element: Any) -> str:
    """What a link, or an element with a property, names: its address and its text must not differ."""
    address = element.get("href") or element.get("resource") or element.get("content") or ""
    if not address and (inner := element.find(".//*[@href]")) is not None:
        address = inner.get("href")
    return _read((address, shown(element)))


def _read(texts: Iterable[str]) -> str:
    """The licence that these texts, which speak of one, agree on; UNKNOWN for none, and for more than one."""
    said = {found for text in texts if (found := licence_at(text) or licence_called(text))}
    if len(said) == 2:  # a port is called as its version is
        shorter, longer = sorted(said, key=len)
        if longer.removeprefix("LicenseRef-").startswith(f"{shorter}-"):
            return longer
    return said.pop() if len(said) == 1 else UNKNOWN


def _is_in_footer(link: Any) -> bool:
    for _, element in zip(range(_NEAR), link.iterancestors(), strict=False):
        names = f"{element.get('class') or ''} {element.get('id') or ''}"
        if element.tag == "footer" or (element.tag == "div" and "footer" in names):
            return True
    return False
