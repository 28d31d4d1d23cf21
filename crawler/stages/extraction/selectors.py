"""A compiled XPath expression over elements' own attributes is looked up instead of searched for.

trafilatura looks for boilerplate and for the main text with XPath expressions that run Python regular expressions over
the attributes of every element, several times a page. Nearly all are plain disjunctions of tests on an element's own
attributes. Those are compiled to a Python predicate here, and its answers are remembered by attribute values, which a
site repeats all over its pages. Where more follows behind the disjunction, the XPath engine is asked only if an element
passes it. An expression of any other form is left to the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

MAX_REMEMBERED = 100_000
"""Combinations of attribute values per expression; beyond it the memory starts anew."""

Attributes = Mapping[str, str]
Test = Callable[[Attributes], bool]
Key = tuple[tuple[str, str], ...]

_LITERAL = r"(?:'[^']*'|\"[^\"]*\")"
_NAMES = r"@[a-z-]+(?:\|@[a-z-]+)*"
_HEAD = re.compile(r"(?P<first>\()?\.//\*(?:\[(?P<tags>self::[a-z0-9]+(?: or self::[a-z0-9]+)*)\])?\[ ?")
_TERM = re.compile(
    rf"(?P<function>re:test|contains|starts-with)\((?:translate\((?P<moved>{_NAMES}), ?(?P<source>{_LITERAL}), ?"
    rf"(?P<target>{_LITERAL})\)|(?P<names>{_NAMES})), ?(?P<literal>{_LITERAL})(?:, ?(?P<flags>{_LITERAL}))?\)"
    rf"|(?P<equal>@[a-z-]+)=(?P<value>{_LITERAL})|(?P<present>@[a-z-]+)(?! ?[=|,)])"
)
_OR = re.compile(r" or ")
_END = re.compile(r" ?\]")


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
    """One expression over descendants, answered from memory where only an element's attributes matter."""

    def __init__(self, expression: Any) -> None:
        self._expression = expression
        self._known: dict[Key, bool] = {}
        self._tests: tuple[Test, ...] = ()
        self.tags: tuple[str, ...] = ("*",)
        self.names: frozenset[str] = frozenset()
        self._rest: str | None = None  # what follows the disjunction; None = of another form, for the engine alone
        self._compile(" ".join(getattr(expression, "path", "").split()))

    @property
    def compiled(self) -> bool:
        """True where the engine is never asked."""
        return self._rest in {"", ")[1]"}

    def select(self, tree: Any) -> list[Any]:
        """The descendants of `tree` that the expression selects, in document order."""
        if self._rest == "":
            return list(self._matches(tree))
        if self._rest == ")[1]":
            return list(islice(self._matches(tree), 1))
        if self._rest is not None and next(self._matches(tree), None) is None:
            return []
        return list(self._expression(tree))

    def first(self, tree: Any) -> Any:
        """The first of them, or None."""
        if self._rest == "[1]":  # the first of all is the first of its parent's children, too
            return next(self._matches(tree), None)
        return next(iter(self.select(tree)), None)

    def _matches(self, tree: Any) -> Iterator[Any]:
        known, names = self._known, self.names
        for element in tree.iterdescendants(*self.tags):
            key = tuple([item for item in element.items() if item[0] in names])
            if not key:
                continue
            answer = known.get(key)
            if answer is None:
                answer = self._ask(key)
            if answer:
                yield element

    def _ask(self, key: Key) -> bool:
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        answer = self._known[key] = self.passes(dict(key))
        return answer

    def passes(self, attributes: Attributes) -> bool:
        """True where an element with these attributes passes the disjunction, if its tag is one of `tags`."""
        return any(test(attributes) for test in self._tests)

    def _compile(self, source: str) -> None:
        head = _HEAD.match(source)
        terms, end = _disjunction(source, head.end()) if head else ([], 0)
        tests = tuple(_test_of(term) for term in terms)
        rest = source[end:]
        known_rest = rest == ")[1]" if head and head["first"] else rest.startswith("[") or not rest
        if head is None or not end or not known_rest or any(test({}) for test in tests):
            return
        self._tests, self._rest = tests, rest
        self.tags = tuple(re.findall(r"self::([a-z0-9]+)", head["tags"] or "")) or ("*",)
        self.names = frozenset(re.findall(r"@([a-z-]+)", re.sub(_LITERAL, "", source[head.end() : end])))


def _disjunction(source: str, position: int) -> tuple[list[re.Match[str]], int]:
    """The terms at `position`, and where the bracket behind them ends; 0 where anything else is among them."""
    terms = []
    while term := _TERM.match(source, position):
        terms.append(term)
        if end := _END.match(source, term.end()):
            return terms, end.end()
        joined = _OR.match(source, term.end())
        if joined is None:
            break
        position = joined.end()
    return [], 0
