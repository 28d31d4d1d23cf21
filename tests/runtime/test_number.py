"""A message says `1 page` and `2 pages`: numbers and nouns agree, by one function."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import crawler
from crawler.number import number_of

PACKAGE = Path(crawler.__file__).parent
_EITHER = re.compile(r"[a-z](?<!http)\((?:s|es|ies)\)")
_OFFICIAL = {"observe/publish/eu_summary.py"}  # the labels of the Commission's template are copied letter by letter


def texts(source: str) -> set[str]:
    """Every text of a module but its docstrings."""
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    return {node.value for node in found if isinstance(node.value, str)}


def test_a_count_and_its_noun_agree() -> None:
    assert [number_of(count, "page") for count in (0, 1, 2000)] == ["0 pages", "1 page", "2,000 pages"]
    assert number_of(2, "corpus is", "corpora are") == "2 corpora are"


def test_no_message_leaves_it_open_whether_there_is_one_or_several() -> None:
    sources = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    found = {
        name: said
        for name, path in sources.items()
        if name not in _OFFICIAL and (said := sorted(filter(_EITHER.search, texts(path.read_text()))))
    }
    assert not found
    pages = {path.name: _EITHER.findall(path.read_text()) for path in PACKAGE.rglob("*.html")}
    assert not any(pages.values()), pages


def test_no_message_has_a_noun_in_the_plural_behind_a_count_that_may_be_one() -> None:
    """Of a page's verdict the words stay as they are: `1 of 1 pages`."""
    nouns = (
        "answers|archives|chunks|documents|domains|files|folders|images|links|pages|pairs|passages|records|requests|rows"
        "|shards|texts|values|visits|words"
    )
    loose = re.compile(rf"\{{[^{{}}:!A-Z]+:,\}} (?:{nouns})\b")
    lines = [
        line.strip()
        for path in PACKAGE.rglob("*.py")
        if "stages" not in path.parts
        for line in path.read_text().splitlines()
    ]
    assert [line for line in lines if loose.search(line) and " if count == 1 else " not in line] == []
