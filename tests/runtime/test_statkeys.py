"""The names of counters stand in one module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler import statkeys

PACKAGE = Path(statkeys.__file__).parent
AREAS = {value.partition("/")[0] for name, value in vars(statkeys).items() if name.isupper() and isinstance(value, str)}
NO_KEYS = {"stage/reason"}  # a heading, and how rejected_by() names its keys


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Every text of a module, of f-strings the beginning; docstrings are none."""
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values[1:]}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs | inner:
            yield node.lineno, node.value


def spelt(source: str) -> list[tuple[int, str]]:
    return [
        (line, text)
        for line, text in texts(source)
        if "/" in text and text.partition("/")[0] in AREAS and text not in NO_KEYS and " " not in text
    ]


def test_no_other_module_spells_a_name() -> None:
    found = {
        f"{file.relative_to(PACKAGE)}:{line}": text
        for file in PACKAGE.rglob("*.py")
        if file.name != "statkeys.py"
        for line, text in spelt(file.read_text())
    }
    assert found == {}


@pytest.mark.parametrize(
    "code", ['stats.inc_value("outcome/kept")', 'f"frontier/{name}"', 'x = f"stage/{s}/documents"']
)
def test_a_name_that_is_spelt_elsewhere_is_found(code: str) -> None:
    assert spelt(code)


def test_the_areas_are_those_of_the_counters() -> None:
    assert {"outcome", "frontier", "scope", "policy", "recrawl", "replay", "stage", "yield", "downloader"} <= AREAS


def test_judged_counts_kept_and_rejected_whatever_the_reason() -> None:
    counters = {"outcome/kept": 2, "outcome/rejected/fetch/gone": 3, "outcome/unreached": 9, "outcome/rejected/x/y": 1}
    assert statkeys.judged(counters) == 6
    assert statkeys.judged({}) == 0


def test_cpu_of_all_stages_is_the_sum_of_each_in_milliseconds() -> None:
    counters = {statkeys.stage_seconds("parse"): 0.5, statkeys.stage_seconds("pii"): 1.2504, "stage/parse/documents": 7}
    assert statkeys.stages_cpu_ms(counters) == 1750
