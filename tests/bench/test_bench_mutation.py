"""A spoiled line is another program, and never another sentence."""

from __future__ import annotations

import ast
import random

import pytest

from bench.faults.mutation import mutated

SPOILED = [
    ("if a < b:\n    pass\n", "if (a >= b):\n    pass\n"),
    ("x = a and b\n", "x = (a or b)\n"),
    ("x = not a\n", "x = (a)\n"),
    ("x = a if b else c\n", "x = (c if b else a)\n"),
    ("x = True\n", "x = (False)\n"),
    ("x = 41\n", "x = (42)\n"),
    ("x = a + b\n", "x = (a - b)\n"),
    ("tell(a)\n", "pass\n"),
    ("raise a\n", "pass\n"),
]


@pytest.mark.parametrize(("source", "spoiled"), SPOILED)
def test_each_kind_of_line_is_spoiled_in_its_way(source: str, spoiled: str) -> None:
    mutant = mutated(source, "crawler/x.py", 1, random.Random(1))
    assert mutant is not None
    assert mutant.source == spoiled


@pytest.mark.parametrize(
    "source", ['"""Three < 4."""\n', 'x = f"{a} of {b:5}"\n', 'x = "a < b"\n', "import a\n", "x = a\n"]
)
def test_sentences_imports_and_what_decides_nothing_stay(source: str) -> None:
    assert mutated(source, "crawler/x.py", 1, random.Random(1)) is None


def test_letters_of_several_bytes_before_the_place_shift_nothing() -> None:
    mutant = mutated("x = 'ü€', a < b\n", "crawler/x.py", 1, random.Random(1))
    assert mutant is not None
    assert mutant.source == "x = 'ü€', (a >= b)\n"
    ast.parse(mutant.source)
