"""What a reader sees of a page without its scripts, counted once: requests for consent and shells are judged by it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml.html import HtmlElement

from crawler.stages.text.shadow_root import is_shadow_root

MAX_ELEMENTS = 20_000
"""Elements, and texts behind them, that are looked at."""
WORD = re.compile(r"\w[\w'’-]*+")
_UNSEEN = frozenset(
    (
        *("script", "style", "noscript", "template", "head", "title", "svg"),
        *("select", "option", "textarea", "iframe", "object"),
    )
)


def visible_words(tree: HtmlElement, enough: int) -> int:
    """Words of a page; counting stops as soon as there are `enough`."""
    count = _counted(_texts(tree), enough)
    return words_within(tree, enough) if count is None else count


def words_within(element: HtmlElement, enough: int) -> int:
    """The same of an element, as if the page held nothing else."""
    return _counted(visible_texts(element), enough) or 0


def _counted(texts: Iterable[str | None], enough: int) -> int | None:
    """None where one of the texts is None before there are `enough`."""
    count = 0
    for text in texts:
        if text is None:
            return None
        count += len(WORD.findall(text[:10_000]))
        if count >= enough:
            break
    return count


def _texts(tree: HtmlElement) -> Iterator[str | None]:
    """The texts that `visible_texts` finds, in two thirds of its time; None where a page may hold more than it takes.

    What stands behind an element with others in it comes last, so that any texts from the beginning are among those
    that `visible_texts` has found by then.
    """
    hidden, late = set[HtmlElement](), list[str]()
    for number, element in enumerate(tree.iter()):
        if 2 * number >= MAX_ELEMENTS:
            yield None
        if hidden and element in hidden:
            continue
        if element.tag in _UNSEEN and not _is_shown(element):
            hidden.update(element.iterdescendants())
        elif (text := element.text) and not text.isspace():
            yield text
        if (tail := element.tail) and not tail.isspace():
            if len(element):
                late.append(tail)
            else:
                yield tail
    yield from late


def _is_shown(element: HtmlElement) -> bool:
    return element.tag == "template" and is_shadow_root(element)


def visible_texts(root: HtmlElement) -> Iterator[str]:
    """Texts within an element, outside what is never shown, in page order, up to MAX_ELEMENTS."""
    stack: list[HtmlElement | str] = [root]
    most = MAX_ELEMENTS
    while stack and most:
        element, most = stack.pop(), most - 1
        if isinstance(element, str):
            yield element
            continue
        if element.tail and element is not root:
            stack.append(element.tail)
        if element.tag not in _UNSEEN or _is_shown(element):
            stack.extend(reversed(element))
            if element.text:
                yield element.text
