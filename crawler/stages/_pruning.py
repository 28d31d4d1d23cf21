"""Beside the extractor: trafilatura's discard rules, looked up instead of searched for, with the same result.

trafilatura removes boilerplate with XPath expressions that run Python regular expressions over the attributes of every
element, several times a page: half of its time on documentation pages. Nearly all of them are plain disjunctions of tests
on an element's own attributes. Those are compiled to a Python predicate here, and its answers are remembered by
attribute values, which a site repeats all over its pages. An expression of any other form is left to the XPath engine.
`tests/stages_text` compares both ways on real pages; `bench/stages.py` shows what it saves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trafilatura import core, external, htmlprocessing, main_extractor

MAX_REMEMBERED = 100_000
"""Combinations of attribute values per expression; beyond it the memory starts anew."""

Attributes = Mapping[str, str]
Test = Callable[[Attributes], bool]

_LITERAL = r"(?:'[^']*'|\"[^\"]*\")"
_NAMES = r"@[a-z-]+(?:\|@[a-z-]+)*"
_SHAPE = re.compile(r"\.//\*(?:\[(?P<tags>self::[a-z]+(?: or self::[a-z]+)*)\])?\[(?P<tests>.*)\]", re.DOTALL)
_TERM = re.compile(
    rf"(?P<function>re:test|contains|starts-with)\((?:translate\((?P<moved>{_NAMES}), ?(?P<source>{_LITERAL}), ?"
    rf"(?P<target>{_LITERAL})\)|(?P<names>{_NAMES})), ?(?P<literal>{_LITERAL})(?:, ?(?P<flags>{_LITERAL}))?\)"
    rf"|(?P<equal>@[a-z-]+)=(?P<value>{_LITERAL})|(?P<present>@[a-z-]+)(?! ?[=|,)])"
)
_OR = re.compile(r"\s+or\s+")


def _parts(text: str) -> Iterator[re.Match[str] | None]:
    """The terms of a disjunction; None where something stands between them that is no `or`."""
    position = 0
    while position < len(text):
        term = _TERM.match(text, position)
        yield term
        if term is None:
            return
        position = term.end()
        if position < len(text):
            joined = _OR.match(text, position)
            if joined is None:
                yield None
                return
            position = joined.end()


def _test_of(term: re.Match[str]) -> Test:
    if present := term["present"]:
        return lambda attributes: present[1:] in attributes
    if equal := term["equal"]:
        wanted = _text(term["value"])
        return lambda attributes: attributes.get(equal[1:]) == wanted
    names = frozenset(name[1:] for name in (term["names"] or term["moved"]).split("|"))
    literal = _text(term["literal"])
    moves = str.maketrans(_text(term["source"]), _text(term["target"])) if term["moved"] else {}
    if term["function"] == "re:test":
        search = re.compile(literal, re.IGNORECASE if "i" in _text(term["flags"] or "''") else 0).search
        return lambda attributes: search(_first(attributes, names)) is not None
    if term["function"] == "contains":
        return lambda attributes: literal in _first(attributes, names).translate(moves)
    return lambda attributes: _first(attributes, names).translate(moves).startswith(literal)


def _first(attributes: Attributes, names: frozenset[str]) -> str:
    """XPath's string value of `@a|@b`: the attribute that stands first in the element."""
    return next((value for name, value in attributes.items() if name in names), "")


def _text(literal: str) -> str:
    return literal[1:-1]


class Rule:
    """One discard expression over descendants, answered from memory where only an element's attributes matter."""

    def __init__(self, expression: Any) -> None:
        self._expression = expression
        self._known: dict[tuple[tuple[str, str], ...], bool] = {}
        self._tests: tuple[Test, ...] = ()
        self._tags: tuple[str, ...] = ("*",)
        self._names: frozenset[str] = frozenset()
        self.compiled = self._compile(" ".join(expression.path.split()))

    def select(self, tree: Any) -> list[Any]:
        """The descendants of `tree` that the expression selects, in document order."""
        if not self.compiled:
            return list(self._expression(tree))
        known, names, found = self._known, self._names, []
        for element in tree.iterdescendants(*self._tags):
            key = tuple([item for item in element.items() if item[0] in names])
            if not key:
                continue
            answer = known.get(key)
            if answer is None:
                answer = self._ask(key)
            if answer:
                found.append(element)
        return found

    def _ask(self, key: tuple[tuple[str, str], ...]) -> bool:
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        attributes = dict(key)
        answer = self._known[key] = any(test(attributes) for test in self._tests)
        return answer

    def _compile(self, source: str) -> bool:
        shape = _SHAPE.fullmatch(source)
        terms = list(_parts(shape["tests"].strip())) if shape else [None]
        tests = tuple(_test_of(term) for term in terms if term is not None)
        if shape is None or None in terms or any(test({}) for test in tests):
            return False
        self._tests = tests
        self._tags = tuple(re.findall(r"self::([a-z]+)", shape["tags"] or "")) or ("*",)
        self._names = frozenset(re.findall(r"@([a-z-]+)", re.sub(_LITERAL, "", shape["tests"])))
        return True


_rules: dict[int, Rule] = {}


def prune_unwanted_nodes(tree: Any, nodelist: list[Any], with_backup: bool = False) -> Any:
    """What `trafilatura.htmlprocessing.prune_unwanted_nodes` does, with compiled and remembered rules."""
    if not with_backup:
        for expression in nodelist:
            for element in _rule(expression).select(tree):
                htmlprocessing.delete_element(element)
        return tree
    matches = dict.fromkeys(element for expression in nodelist for element in _rule(expression).select(tree))
    outer = [element for element in matches if not any(a in matches for a in element.iterancestors())]
    length = len(tree.text_content())
    if length - sum(len(element.text_content()) for element in outer) > length / 7:  # else it would remove too much
        for element in outer:
            htmlprocessing.delete_element(element)
    return tree


def _rule(expression: Any) -> Rule:
    """The rule of an expression; expressions are module constants of trafilatura and live as long as the process."""
    rule = _rules.get(id(expression))
    if rule is None:
        rule = _rules[id(expression)] = Rule(expression)
    return rule


def install() -> None:
    """Let trafilatura's extractor use these rules; once per process, harmless when repeated."""
    for module in (core, external, main_extractor):
        module.prune_unwanted_nodes = prune_unwanted_nodes


def uninstall() -> None:
    """Give trafilatura its own function back: for the comparison in tests and benches."""
    for module in (core, external, main_extractor):
        module.prune_unwanted_nodes = htmlprocessing.prune_unwanted_nodes
