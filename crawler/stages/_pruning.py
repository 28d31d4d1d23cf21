"""Beside the extractor: trafilatura's discard rules and body paths, looked up instead of searched for, same result.

They are half of its time on documentation pages; `_selectors.py` says how they are answered faster.
`tests/stages_text` compares both ways on real pages; `bench/stages.py` shows what it saves.
"""

from __future__ import annotations

from typing import Any

from trafilatura import core, external, htmlprocessing, main_extractor
from trafilatura.xpaths import BODY_XPATH

from crawler.stages._selectors import Rule, rule_of

__all__ = ["Rule", "body_of", "install", "prune_unwanted_nodes", "uninstall"]


def prune_unwanted_nodes(tree: Any, nodelist: list[Any], with_backup: bool = False) -> Any:
    """What `trafilatura.htmlprocessing.prune_unwanted_nodes` does, with compiled and remembered rules."""
    if not with_backup:
        for expression in nodelist:
            for element in rule_of(expression).select(tree):
                htmlprocessing.delete_element(element)
        return tree
    matches = dict.fromkeys(element for expression in nodelist for element in rule_of(expression).select(tree))
    outer = [element for element in matches if not any(a in matches for a in element.iterancestors())]
    length = len(tree.text_content())
    if length - sum(len(element.text_content()) for element in outer) > length / 7:  # else it would remove too much
        for element in outer:
            htmlprocessing.delete_element(element)
    return tree


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


_BODY_PATHS = [BodyPath(expression) for expression in BODY_XPATH]


def body_of(tree: Any) -> Any:
    """The element that one of trafilatura's body paths leads to, in its order; None where none does."""
    return next((found[0] for path in _BODY_PATHS if (found := path(tree))), None)


def install() -> None:
    """Let trafilatura's extractor use these rules; once per process, harmless when repeated."""
    for module in (core, external, main_extractor):
        module.prune_unwanted_nodes = prune_unwanted_nodes
    main_extractor.BODY_XPATH = _BODY_PATHS


def uninstall() -> None:
    """Give trafilatura its own function back: for the comparison in tests and benches."""
    for module in (core, external, main_extractor):
        module.prune_unwanted_nodes = htmlprocessing.prune_unwanted_nodes
    main_extractor.BODY_XPATH = BODY_XPATH
