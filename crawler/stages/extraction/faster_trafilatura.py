"""Faster parts of trafilatura: discard rules and body paths are looked up instead of searched for, same result.

They are half of its time on documentation pages; `selectors.py` says how they are answered faster. With them stand
parts that ask the same small questions again and again. To be imported only where `originals.py` knows what is
replaced; `faster.py` installs them. `tests/stages/extraction` compares both ways on real pages; `bench/speed/stages.py`
shows what it saves.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lxml.etree import XPath
from trafilatura import core, external, htmlprocessing, main_extractor, metadata
from trafilatura.settings import BASIC_CLEAN_XPATH
from trafilatura.xpaths import (
    BODY_XPATH,
    DISCARD_IMAGE_ELEMENTS,
    OVERALL_DISCARD_XPATH,
    TEASER_DISCARD_XPATH,
    TITLE_XPATHS,
)

from crawler.stages.extraction.faster_density import prune_unwanted_sections
from crawler.stages.extraction.selectors import Rule, Together, rule_of


def prune_unwanted_nodes(tree: Any, nodelist: list[Any], with_backup: bool = False) -> Any:
    """What `trafilatura.htmlprocessing.prune_unwanted_nodes` does, with compiled and remembered rules."""
    if not with_backup:
        for expression in nodelist:
            for element in _selected(expression, tree):
                htmlprocessing.delete_element(element)
        return tree
    matches = dict.fromkeys(element for expression in nodelist for element in _selected(expression, tree))
    outer = [element for element in matches if not any(a in matches for a in element.iterancestors())]
    length = len(tree.text_content())
    if length - sum(len(element.text_content()) for element in outer) > length / 7:  # else it would remove too much
        for element in outer:
            htmlprocessing.delete_element(element)
    return tree


class _Walk:
    """The last walk of the rules that trafilatura asks one after the other about one tree, only deleting between them.

    An element that was deleted since is deleted once more, from a branch that is gone: that changes nothing.
    """

    def __init__(self, expressions: list[Any]) -> None:
        self.first = expressions[0]
        self._expressions = [expression for expression in expressions if rule_of(expression).plain]
        self._together = Together([rule_of(expression) for expression in self._expressions])
        self._tree: Any = None
        self._found: dict[int, list[Any]] = {}

    def begin(self, tree: Any) -> None:
        """Ask all of them about `tree`."""
        self._tree = tree
        self._found = dict(zip(map(id, self._expressions), self._together.select(tree), strict=True))

    def answer(self, expression: Any, tree: Any) -> list[Any] | None:
        """What the walk over `tree` found for an expression, once; None where there was no such walk."""
        return self._found.pop(id(expression), None) if tree is self._tree else None


_WALK = _Walk([*OVERALL_DISCARD_XPATH, *DISCARD_IMAGE_ELEMENTS, *TEASER_DISCARD_XPATH])


def _selected(expression: Any, tree: Any) -> list[Any]:
    if expression is _WALK.first:
        _WALK.begin(tree)
    found = _WALK.answer(expression, tree)
    return rule_of(expression).select(tree) if found is None else found


class BodyPath:
    """One of trafilatura's paths to the main text; called as it calls them, it answers the first element alone."""

    def __init__(self, expression: Any) -> None:
        self._expression, self._rule = expression, rule_of(expression)

    def __call__(self, tree: Any) -> list[Any]:
        """At most one element: trafilatura takes the first."""
        first = self._rule.first(tree)
        return [] if first is None else [first]

    def __str__(self) -> str:
        """As trafilatura logs it."""
        return str(self._expression)


def _without_regex(expression: Any) -> tuple[Any, ...]:
    """A union as two callables where its last term asks regular expressions about every element."""
    names = {"re": "http://exslt.org/regular-expressions"}
    first, mark, last = expression.path.rpartition("|.//*[")
    return (
        (XPath(first, namespaces=names), Rule(XPath(".//*[" + last, namespaces=names)).select)
        if mark
        else (expression,)
    )


_BASIC = _without_regex(BASIC_CLEAN_XPATH)


def basic_cleaning(tree: Any) -> Any:
    """What `trafilatura.baseline.basic_cleaning` does."""
    for element in [element for part in _BASIC for element in part(tree)]:
        htmlprocessing.delete_element(element)
    return tree


def collect_link_info(links: list[Any]) -> tuple[int, int, int, list[str]]:
    """What `trafilatura.htmlprocessing.collect_link_info` does; most links have no elements in them."""
    texts = [e for e in (" ".join((_text_of(link) or "").split()) for link in links) if e]
    lengths = list(map(len, texts))
    return sum(lengths), len(texts), sum(length < _SHORT_LINK for length in lengths), texts


_SHORT_LINK = 10


def _text_of(element: Any) -> str | None:
    text: str | None = element.text_content() if len(element) else element.text
    return text


_BASELINE = import_module("trafilatura.baseline")  # the package has a function of that name

REPLACEMENTS: tuple[tuple[Any, str, Any], ...] = (
    *((module, "prune_unwanted_nodes", prune_unwanted_nodes) for module in (core, external, main_extractor)),
    *((module, "basic_cleaning", basic_cleaning) for module in (_BASELINE, external)),
    (htmlprocessing, "collect_link_info", collect_link_info),
    (main_extractor, "prune_unwanted_sections", prune_unwanted_sections),
    (main_extractor, "BODY_XPATH", [BodyPath(expression) for expression in BODY_XPATH]),
    (metadata, "TITLE_XPATHS", [rule_of(expression).select for expression in TITLE_XPATHS]),
)
"""Module, name in it, and what stands there once installed."""
