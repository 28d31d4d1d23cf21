"""What a page draws beside code to work with it goes: numbers of lines, buttons that copy, the name of the language.

By the classes of the highlighters, and by what it is: nothing but numbers, each one more than the one before, beside a
listing; a button that stands in the box of a listing; a label that says again which language the listing names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from lxml import etree

from crawler.stages.extraction.code_names import linguist_name, name_of

MOST = 100_000
"""Elements that may hold a number of a line."""
LONGEST_LABEL = 40
"""Characters of the label of a button."""
_NUMBERS = re.compile(
    r"(?:^|[\s_-])(?:line-?(?:no|nos|num|nums|number|numbers)|ln|lnt|lntd|linenr|gutter|gl|blob-num|crayon-nums?|lnos|linenodiv"
    r"|hljs-ln-n|hljs-ln-numbers|linenums|line-?index|code-line-numbers?|rouge-gutter|cm-gutters?|linenumbers|diff-line-num)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_TAGS = ("span", "td", "a", "div", "pre", "th", "em", "i", "code", "ol")
_NUMBER_WORDS = ("line", "ln", "gutter", "num", "gl")
_BUTTONS = re.compile(
    r"(?:^|[\s_-])(?:copy|copybtn|copy-?(?:btn|button|code|icon|to-clipboard|snippet)|btn-?(?:copy|clipboard)|clipboard"
    r"|zeroclipboard-container)(?:$|[\s_-])",
    re.IGNORECASE,
)
_BESIDE = etree.XPath("descendant::*[not(ancestor-or-self::pre or descendant::pre)]")
"""What stands in the box of listings beside them, without what stands around one."""
_ROLES = frozenset({"button", "toolbar"})
_AROUND = 3
"""Elements upwards from a listing that may be its box."""


def drop_gutters(tree: Any, classes: str) -> None:
    """Numbers of lines by their class, on a page that has a listing, in place; classes: all of the page."""
    if _call_numbers(classes) and next(tree.iter("pre"), None) is not None:
        drop_numbers(tree)


def drop_numbers(around: Any) -> None:
    """Elements within one that the highlighters call a number of a line, and that are one, in place."""
    found = [e for e in around.iter(*_TAGS) if (names := e.get("class")) and may_be_number(names)]
    for element in found[:MOST]:
        if element.getparent() is not None and is_numbers(element, least=1):
            element.drop_tree()


@lru_cache(maxsize=4_096)
def may_be_number(names: str) -> bool:
    """True for classes by which highlighters call the number of a line."""
    return _call_numbers(names)


def _call_numbers(names: str) -> bool:
    lower = names.lower()
    return any(word in lower for word in _NUMBER_WORDS) and _NUMBERS.search(lower) is not None


def drop_labels(tree: Any) -> None:
    """What a listing's box holds beside the listing, in place: buttons, labels, columns of numbers."""
    for pre in list(tree.iter("pre")):
        box = pre
        for _ in range(_AROUND):
            around = box.getparent()
            if around is None or around.tag in {"body", "article", "main", "section", "html", "td", "li", "blockquote"}:
                break
            if around.tag not in {"div", "figure", "span", "code", "pre"} or _holds_prose(around, box):
                break
            box = around
        if box is not pre:
            _clear(box, pre)
        _clear_head(pre)
        for button in [e for e in pre.iter("button", "clipboard-copy") if e.getparent() is not None]:
            button.drop_tree()
        _drop_numbers_beside(pre)


def is_numbers(element: Any, *, least: int = 2) -> bool:
    """True for nothing but whole numbers, each one more than the one before (or a single one)."""
    words = element.text_content().split()
    if len(words) < least or len(words) > MOST:
        return False
    if not all(word.isdecimal() and len(word) < 7 for word in words):
        return False
    numbers = [*map(int, words)]
    return all(two - one == 1 for one, two in pairwise(numbers))


def _holds_prose(around: Any, box: Any) -> bool:
    """True where other text stands beside the box than labels."""
    if around.text and around.text.strip():
        return True
    for child in around:
        if child.tail and child.tail.strip():
            return True
        if child is box or not isinstance(child.tag, str):
            continue
        if child.tag in {
            "p",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "ul",
            "ol",
            "table",
            "section",
            "article",
            "blockquote",
        }:
            return True
        text = child.text_content().strip()
        if len(text) > LONGEST_LABEL and next(child.iter("pre"), None) is None and not is_numbers(child):
            return True
    return False


def _clear(box: Any, pre: Any) -> None:
    language = linguist_name(pre)
    for element in _BESIDE(box):
        if element.getparent() is None:
            continue
        text = " ".join(element.text_content().split())
        if not text or len(text) > LONGEST_LABEL:
            continue
        if _is_button(element) or (language and name_of(text) == language and element.tag != "code"):
            element.drop_tree()


def _clear_head(pre: Any) -> None:
    """The name of the language on a bar in the <pre>, before its code."""
    if len(pre) > 1 and pre.find("code") is not None and not (pre.text or "").strip():
        first = pre[0]
        if first.tag in {"div", "span", "header"} and next(first.iter("code"), None) is None:
            for button in [e for e in first.iter("button") if e.getparent() is not None]:
                button.drop_tree()
            if name_of(" ".join(first.text_content().split())):
                first.drop_tree()


def _is_button(element: Any) -> bool:
    if (
        element.tag in {"button", "clipboard-copy"}
        or element.get("role") in _ROLES
        or element.get("data-clipboard-text")
    ):
        return True
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(names.strip()) and _BUTTONS.search(names) is not None


def _drop_numbers_beside(pre: Any) -> None:
    """A column of numbers before a listing of as many lines, in an element of its own without a class."""
    previous = pre.getprevious()
    if previous is None and pre.getparent() is not None:
        previous = pre.getparent().getprevious()
    if previous is None or previous.tag not in {"pre", "div", "td", "ol", "span"} or (previous.tail or "").strip():
        return
    count = len(previous.text_content().split())
    lines = pre.text_content().strip("\n").count("\n") + 1
    if count > 1 and abs(count - lines) <= 1 and is_numbers(previous):
        previous.getparent().remove(previous)
