"""What a page states in `<title>` and `<meta>`: read once, asked by whoever looks for a title, an author or a date."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml.etree import XPath

MAX_STATEMENTS = 500
"""`<meta>` elements that are read."""
MAX_CHARS = 5_000
"""Characters of one of them."""
_PARTS_OF_A_PAGE = frozenset({"html", "head", "body"})
_OF_BODY = frozenset({"datePublished", "dateCreated"})
_TAG = re.compile(r"</?(?:a|b|br|div|em|i|p|span|strong|u)\b[^<>]{0,500}>", re.IGNORECASE)
"""Of markup that was meant to be rendered; `vector<int>` is none."""


@dataclass(frozen=True, slots=True)
class Head:
    """`title`: of the document; `said`: what was said under each name, in lower case, in page order."""

    title: str
    said: dict[str, list[str]]

    def first(self, *names: str) -> str:
        """The first thing said under the first of these names that says anything; else ""."""
        return next((self.said[name][0] for name in names if name in self.said), "")

    def all(self, *names: str) -> list[str]:
        """Everything said under the first of these names that says anything."""
        return next((self.said[name] for name in names if name in self.said), [])


def read_head(metas: Iterable[Any], titles: Iterable[Any] = ()) -> Head:
    """What these `<meta>` elements and the first `<title>` say, white space collapsed, empty ones left out.

    The titles of drawings are none of the page.
    """
    said: dict[str, list[str]] = {}
    for meta in islice(metas, MAX_STATEMENTS):
        name = meta.get("property") or meta.get("name") or _property(meta)
        content = meta.get("content")
        if name and content and (text := flat(content[:MAX_CHARS])):
            said.setdefault(name.strip().lower(), []).append(text)
    title = next((one.text_content() for one in titles if _tag_around(one) in _PARTS_OF_A_PAGE), "")
    return Head(flat(title[:MAX_CHARS]), said)


def _property(meta: Any) -> str | None:
    """Of microdata; in the body only a date: authors and descriptions there are a review's or a product's as well."""
    name = meta.get("itemprop")
    return name if _tag_around(meta) == "head" or name in _OF_BODY else None


def _tag_around(element: Any) -> Any:
    parent = element.getparent()
    return None if parent is None else parent.tag


def flat(text: str) -> str:
    """Without markup, white space collapsed."""
    return " ".join((_TAG.sub(" ", text) if "<" in text else text).split())


def shown(element: Any) -> str:
    """The text of an element as one line: a line break parts words."""
    if element.find(".//br") is None:
        return " ".join(element.text_content().split())
    return " ".join("".join(one if isinstance(one, str) else " " for one in _TEXTS_AND_BREAKS(element)).split())


_TEXTS_AND_BREAKS = XPath("descendant::text()|descendant::br", smart_strings=False)
