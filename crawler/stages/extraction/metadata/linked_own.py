"""Which objects of a page's linked data are about this page, and which about another one that it shows.

An object says so by its address: `url`, `mainEntityOfPage`, `@id`. Only those at the top of the data are asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from crawler.stages.extraction.metadata.linked import Node, named, types_of
from crawler.urls.resolve import resolve

MAX_OBJECTS = 200
"""Objects at the top of a page's data that are looked at."""
TEXTS = named(
    "Article NewsArticle BlogPosting TechArticle Report ScholarlyArticle Recipe CreativeWork HowTo LearningResource "
    "ReportageNewsArticle AnalysisNewsArticle OpinionNewsArticle MedicalScholarlyArticle"
)
"""Works that are the text of a page; not those that a page may only present (a book, a data set, a program), and not
contributions to a forum, whose answers are other people's."""
_POSTS = named("DiscussionForumPosting SocialMediaPosting LiveBlogPosting Question")
_WITHIN = ("mainEntity", "mainEntityOfPage")
"""Properties of an object of the page that lead to another one of it."""


def others(roots: Iterable[Any], url: str, addresses: Sequence[str] = ()) -> set[int]:
    """`id` of the texts at the top of the data that are other pages', where one of them is this page's; else none.

    roots: the page's linked data, a value a script; url: its address; addresses: others that it gives itself.
    """
    own, found, is_there = keys_of(url, addresses), set[int](), False
    for one in objects_of(roots):
        if not (TEXTS | _POSTS).isdisjoint(types_of(one)) and (keys := keys_at(url, one)):
            is_there = is_there or not own.isdisjoint(keys)
            if own.isdisjoint(keys):
                found.add(id(one))
    return found if is_there else set()


def objects_of(roots: Iterable[Any]) -> list[Node]:
    """Those at the top, those of a graph, and what these say the page is about."""
    return list(islice(_objects(roots), MAX_OBJECTS))


def keys_of(url: str, addresses: Sequence[str]) -> set[str]:
    """By what this page is recognised."""
    return {key for one in (url, *addresses) if (key := _key(url, one))}


def keys_at(url: str, node: Node) -> set[str]:
    """By what the pages are recognised that an object names as its own."""
    return {key for address in _addresses(node) if (key := _key(url, address))}


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
    whole = resolve(url, address) or ""
    return _bare(whole) if whole.startswith(("http://", "https://")) else ""


def _objects(roots: Iterable[Any]) -> Iterator[Node]:
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
