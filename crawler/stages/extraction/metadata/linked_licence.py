"""What a page's linked data call the licence of the page itself, not of a picture or another article that it shows.

Only objects at the top of the data are asked, of a type that is the page or its text. One that names an address is the
page's where that is the page's own; one that names none is where there is no other. Source: schema.org (license, url,
mainEntityOfPage).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urljoin

from crawler.stages.extraction.metadata.linked import PAGES, Node, named, types_of

MAX_OBJECTS = 200
"""Objects at the top of a page's data that are looked at."""
MAX_TEXTS = 20
TEXTS = named(
    "Article NewsArticle BlogPosting TechArticle Report ScholarlyArticle Recipe CreativeWork HowTo LearningResource "
    "ReportageNewsArticle AnalysisNewsArticle OpinionNewsArticle MedicalScholarlyArticle"
)
"""Works that are the text of a page; not those that a page may only present (a book, a data set, a program), and not
contributions to a forum, whose answers are other people's."""
_WITHIN = ("mainEntity", "mainEntityOfPage")
"""Properties of an object of the page that lead to another one of it."""


def stated_licences(roots: Iterable[Any], url: str, addresses: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """The texts (addresses, names) of each statement of a licence.

    roots: the page's linked data, a value a script; url: its address; addresses: others that it gives itself.
    """
    objects = list(islice(_objects(roots), MAX_OBJECTS))
    known = {id_: one for one in objects if isinstance(id_ := one.get("@id"), str) and len(one) > 1}
    own = {key for one in (url, *addresses) if (key := _key(url, one))}
    pages, texts = ([one for one in objects if not kinds.isdisjoint(types_of(one))] for kinds in (PAGES, TEXTS))
    for candidates in (pages, texts):
        for one in candidates:
            keys = {key for address in _addresses(one) if (key := _key(url, address))}
            if "license" in one and (keys & own or (not keys and len(candidates) == 1)):
                yield from _statements(one["license"], known)


def same_page(one: str, other: str) -> bool:
    """True for two addresses of one page: scheme, `www.`, a slash at the end and what stands behind # do not count."""
    return _bare(one) == _bare(other)


def _bare(address: str) -> str:
    return address.strip().partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")


def _key(url: str, address: str) -> str:
    """By what a page is recognised; "" for what is no address of one, as `#article` and `urn:…`."""
    address = address.strip()
    if not address or address.startswith(("#", "_:")):
        return ""
    try:
        whole = urljoin(url, address)
    except ValueError:
        return ""
    return _bare(whole) if whole.startswith(("http://", "https://")) else ""


def _objects(roots: Iterable[Any]) -> Iterator[Node]:
    """Those at the top, those of a graph, and what these say the page is about."""
    for root in roots:
        for one in root if isinstance(root, list) else [root]:
            if isinstance(one, dict):
                graph = one.get("@graph")
                for node in (one, *(graph if isinstance(graph, list) else [graph])):
                    if isinstance(node, dict):
                        yield node
                        yield from (inner for name in _WITHIN if isinstance(inner := node.get(name), dict))


def _addresses(node: Node) -> Iterator[str]:
    for name in ("url", "mainEntityOfPage", "@id"):
        value = node.get(name)
        value = (value.get("@id") or value.get("url")) if isinstance(value, dict) else value
        if isinstance(value, str):
            yield value


def _statements(value: Any, known: dict[str, Node]) -> Iterator[tuple[str, ...]]:
    for one in islice(value if isinstance(value, list) else [value], MAX_TEXTS):
        texts: tuple[Any, ...] = (one,)
        if isinstance(one, dict):
            whole = {**known.get(str(one.get("@id")), {}), **one}
            texts = tuple(whole.get(name) for name in ("@id", "url", "sameAs", "name"))
        if said := tuple(text for text in texts if isinstance(text, str) and text.strip()):
            yield said
