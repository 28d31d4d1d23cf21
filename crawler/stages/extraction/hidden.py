"""What no reader of a page sees: instructions to machines, stuffed words, dialogs that never open.

`hidden`, `display: none`, `visibility: hidden`, a closed <dialog>, what stands off the screen or has no opacity. What a
click reveals is text: tabs, accordions, whatever a control of the page names. `aria-hidden` alone hides nothing.
Sources: HTML standard 6.1 and 4.11.4, CSS 2.2 9.2.4 and 11.2, CSS Color 4 section 12.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any, NamedTuple

from lxml import etree

MOST_SHARE = 0.3
"""Of a page's letters that may be hidden: where it is more, a script shows the page once it runs."""
LEAST_SECTIONS = 3
"""Closed elements of one class from which they are sections that a script opens."""
MOST_NAMES = 2_000
"""Characters of an element's names that are looked at."""
MOST = 5_000
"""Elements of a page that are looked at."""
_CANDIDATES = etree.XPath(
    "//body/descendant::*/@hidden/.. | //body/descendant::*/@style/.. | //body/descendant::dialog", smart_strings=False
)
_CONTROLS = etree.XPath(
    "boolean(descendant-or-self::*[self::button or @role='button' or @role='tab' or @aria-expanded][1])"
)
_TARGETS = etree.XPath("//@aria-controls | //@data-target | //@data-bs-target | //a/@href[starts-with(., '#')]")
_TEXTS = etree.XPath(
    "descendant-or-self::*[not(self::script or self::style or self::template)]/text()", smart_strings=False
)
_NESTED_TEXTS = etree.XPath(
    "descendant-or-self::text()[not(ancestor::script or ancestor::style or ancestor::template)]", smart_strings=False
)
"""The same where these hold elements; slower, because it looks around every text."""
_INSTRUCTIONS = ("script", "style", "template")
_CLOSED = re.compile(r"display:none(?![\w-])|visibility:(?:hidden|collapse)(?![\w-])")
_CLEAR = re.compile(r"(?:^|;)opacity:0*(?:\.0+)?(?:%|!important)*(?:;|\Z)")
_MOVES = re.compile(r"transform|transition|animation|will-change")
_OFF_SCREEN = re.compile(
    r"(?:^|;)(?:left|right|top|bottom|text-indent|margin-left|margin-top):"
    r"-(?:(?:[2-9]\d{3}|\d{5,9})(?:px|pt)?|\d{3,9}(?:em|rem|vw|vh|%))"
)
_CLIPPED = re.compile(r"(?:^|;)clip:rect\((?:[01](?:px)?[, ]*){4}\)|(?:^|;)clip-path:inset\((?:50|100)%")
_REVEALED = re.compile(
    r"tab|accordi|collaps|toggle|expand|spoiler|reveal|panel|slide|carousel|swiper|step|more|answer|faq|detail|fold"
    r"|dropdown|drop-down|excerpt|show|lazy|fade|animat|wow|aos|paywall|premium|article|content|story|entry"
)
"""Names of what a script shows, when somebody asks for it or scrolls there."""
_NAMING = frozenset({"class", "id", "role"})
_BINDINGS = ("x-", "v-", "ng-", ":", "@", "data-aos", "data-animat", "data-wow", "data-framer", "data-w-id", "data-tab")


class Hidden(NamedTuple):
    """Elements of a page that nobody sees, the outermost ones, and how many words they have."""

    elements: list[Any]
    words: int


def is_closed(attributes: Any) -> bool:
    """True where the page shows nothing of an element until a script changes it."""
    if attributes.get("hidden", "until-found").lower() != "until-found":
        return True
    style = attributes.get("style")
    return bool(style) and _CLOSED.search(_plain(style)) is not None


def hidden_in(tree: Any) -> Hidden:
    """What is hidden in a page; nothing where a script would show the most of it."""
    unseen = filter(_is_unseen, _CANDIDATES(tree)[:MOST])
    found = [element for element in unseen if element.tag == "dialog" or not _is_revealed(element)]
    if any(element.get("id") for element in found if element.tag != "dialog"):
        targets = {name.lstrip("#") for value in _TARGETS(tree) for name in value.split()}
        found = [element for element in found if element.tag == "dialog" or element.get("id") not in targets]
    found = _without_sections(found)
    if not found:
        return Hidden([], 0)
    known = set(found)
    outer = [element for element in found if known.isdisjoint(element.iterancestors())]
    is_nested = any(len(element) for element in tree.iter(*_INSTRUCTIONS))
    texts_in = _NESTED_TEXTS if is_nested else _TEXTS
    texts = [" ".join(" ".join(texts_in(element)).split()) for element in outer]
    chars = sum(map(len, texts))
    is_little = not is_nested and _shows(tree, chars / MOST_SHARE)
    if not is_little and chars > MOST_SHARE * len(" ".join(" ".join(texts_in(tree)).split())):
        return Hidden([], 0)
    return Hidden(outer, sum(len(text.split()) for text in texts))


def _shows(tree: Any, enough: float) -> bool:
    """True where the first elements of a page have so many letters, which spares the count of all."""
    count = 0
    for element in tree.iter("*"):
        if element.tag not in _INSTRUCTIONS and (text := element.text):
            count += len(" ".join(text.split()))
            if count > enough:
                return True
    return False


def _without_sections(found: list[Any]) -> list[Any]:
    """Those that are not closed sections: the same kind of element, again and again, each with a text of its own."""
    kinds = Counter((e.tag, e.get("class")) for e in found if e.get("class") and is_closed(e.attrib))
    alike = {kind for kind, times in kinds.items() if times >= LEAST_SECTIONS}
    return [e for e in found if (e.tag, e.get("class")) not in alike or e.tag == "dialog"]


def drop_hidden(hidden: Hidden) -> None:
    """Take these elements out of their page, in place; what stands behind each stays."""
    for element in hidden.elements:
        if element.getparent() is not None:
            element.drop_tree()


def _is_unseen(element: Any) -> bool:
    if element.tag == "dialog":
        return "open" not in element.attrib
    if element.get("hidden", "until-found").lower() != "until-found":
        return True
    style = element.get("style")
    return bool(style) and (_hides(style) if len(style) <= MOST_NAMES else _hides.__wrapped__(style))


@lru_cache(maxsize=8_192)
def _hides(style: str) -> bool:
    """True for a style with which nobody sees an element; a site repeats them."""
    style = _plain(style)
    if _CLOSED.search(style):
        return True
    is_placed = "position:absolute" in style or "position:fixed" in style
    if (is_placed or "text-indent" in style) and _OFF_SCREEN.search(style):
        return True
    if is_placed and _CLIPPED.search(style):
        return True
    return _CLEAR.search(style) is not None and _MOVES.search(style) is None


def _is_revealed(element: Any) -> bool:
    """True for what a click, or scrolling there, shows, as its names and what stands around it say."""
    attributes = element.attrib
    if any(name.startswith(_BINDINGS) for name in attributes):
        return True
    names = " ".join(value for name, value in attributes.items() if name in _NAMING or name.startswith("data-"))
    if _REVEALED.search(names[:MOST_NAMES].lower()) or _has_control_before(element):
        return True
    return next(element.iterancestors("details"), None) is not None


def _has_control_before(element: Any) -> bool:
    """True where a button, or what is used as one, stands before it: it opens what follows."""
    before = element.getprevious()
    return before is not None and isinstance(before.tag, str) and bool(_CONTROLS(before))


def _plain(style: str) -> str:
    return style.replace(" ", "").replace("\n", "").replace("\t", "").lower()
