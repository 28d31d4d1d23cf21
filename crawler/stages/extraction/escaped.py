"""Markup that a page shows as text by mistake goes: `<strong>` around words of a sentence, whose signs were escaped.

Which tags these are is noted on the tree, before the extractor. A page that speaks of markup is left alone: some of it
stands in its code, or a tag without its end, or an element that is no formatting.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

from crawler.stages.extraction.code import CODE

LEAST_WORDS = 2
"""Words behind the beginning of an element, somewhere on the page, from which its tags are no examples of one."""
MOST = 2_000
"""Texts with a sign of a tag that are looked at; a page with more of them speaks of markup."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,9})(?:\s[^<>]{0,400}+|\s?/)?>")
_PAIRS = frozenset(
    ("a", "abbr", "b", "big", "blockquote", "cite", "em", "font", "i", "li", "ol", "p", "q", "s", "small", "span",
     "strike", "strong", "sub", "sup", "u", "ul")
)  # fmt: skip
_LINES = frozenset(("blockquote", "br", "hr", "li", "ol", "p", "ul"))
"""Where one of these goes, a blank stays."""
_BREAKS = frozenset(("br", "hr"))
_UNREAD = frozenset(
    ("head", "iframe", "math", "noembed", "noscript", "script", "select", "style", "svg", "template", "textarea")
)
_WITH_SIGNS = ".//text()[contains(., '<')]"


def escaped_tags(tree: Any, html: bytes) -> frozenset[str]:
    """The tags that stand in the text of a page by mistake, white space collapsed; none on nearly every page."""
    if b"&lt;/" not in html and b"&#60;/" not in html:
        return frozenset()
    found: set[str] = set()
    is_read = False
    texts = tree.xpath(_WITH_SIGNS)
    for text in texts if len(texts) <= MOST else ():
        tags = [*_TAG.finditer(text)]
        around = {element.tag for element in _around(text)} if tags else set()
        if not tags or not _UNREAD.isdisjoint(around):
            continue
        if not around.isdisjoint(CODE) or not _are_pairs(tags):
            return frozenset()
        found.update(" ".join(tag[0].split()) for tag in tags)
        is_read = is_read or any(len(text[one.end() : two.start()].split()) >= LEAST_WORDS for one, two in _begun(tags))
    return frozenset(found) if is_read else frozenset()


def without_tags(text: str, tags: Collection[str]) -> str:
    """The text without these tags; a line of nothing else goes."""
    if not tags:
        return text
    lines = []
    for line in text.split("\n"):
        cleaned = _TAG.sub(lambda tag: tag[0] if " ".join(tag[0].split()) not in tags else _instead(tag), line)
        if cleaned != line:
            indent = line[: len(line) - len(line.lstrip())]
            cleaned = indent + " ".join(cleaned.split())
            if not cleaned.strip():
                continue
        lines.append(cleaned)
    return "\n".join(lines)


def _begun(tags: list[re.Match[str]]) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Each tag that begins an element, and the next one."""
    return ((one, two) for one, two in pairwise(tags) if not one[1] and one[2].lower() in _PAIRS)


def _instead(tag: re.Match[str]) -> str:
    return " " if tag[2].lower() in _LINES else ""


def _around(text: Any) -> Iterator[Any]:
    """The elements that a text stands in."""
    element = text.getparent()
    if not text.is_tail:
        yield element
    yield from element.iterancestors()


def _are_pairs(tags: list[re.Match[str]]) -> bool:
    """True for elements of running text, each with its end."""
    opened: list[str] = []
    for tag in tags:
        name = tag[2].lower()
        if name in _BREAKS:
            continue
        if name not in _PAIRS or (tag[1] and (not opened or opened.pop() != name)):
            return False
        if not tag[1]:
            opened.append(name)
    return not opened
