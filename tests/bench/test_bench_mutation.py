"""A spoiled line is another program, and never another sentence."""

from __future__ import annotations

import ast
import random
import subprocess
from pathlib import Path

import pytest

from bench.faults import mutation
from bench.faults.mutation import Mutant, mutated

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


def project(folder: Path, *tests: str) -> Path:
    """A project of one module, `LIMIT = 3`, and these tests of it."""
    tree = folder / "tree"
    for room in (tree / "crawler" / "room", tree / "tests" / "room"):
        room.mkdir(parents=True)
    (tree / "crawler" / "room" / "thing.py").write_text("LIMIT = 3\n")
    head = (
        "import time\nfrom pathlib import Path\nHAS_LIMIT = 'LIMIT = 3' in Path('crawler/room/thing.py').read_text()\n"
    )
    (tree / "tests" / "room" / "test_thing.py").write_text(head + "".join(f"def {test}\n" for test in tests))
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t", "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=tree, check=True)
    return tree


SPOILT = Mutant("crawler/room/thing.py", 1, "a number one larger", "LIMIT = (4)\n")
ALWAYS, NOTICES, PASSES = "test_a(): assert False", "test_b(): assert HAS_LIMIT", "test_c(): assert True"
SLOW, ENDLESS = "test_d(): time.sleep(60)", "test_e(): time.sleep(0 if HAS_LIMIT else 60)"


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ((PASSES, NOTICES), "noticed by tests/room/test_thing.py::test_b"),
        ((ALWAYS, NOTICES), "noticed by tests/room/test_thing.py::test_b"),
        ((ALWAYS, PASSES), "UNNOTICED"),
        ((PASSES, ENDLESS), "noticed by time"),
        ((PASSES, SLOW), "UNNOTICED"),
    ],
)
def test_only_a_test_that_passes_and_ends_without_the_fault_has_noticed_it(tmp_path, monkeypatch, capsys, tests, said):
    """A machine that is busy makes any run of tests a long one: that proves nothing of the line."""
    monkeypatch.setattr(mutation, "SECONDS", 15)
    noticed = mutation._is_noticed(project(tmp_path, *tests), tmp_path, 1, SPOILT)
    told = capsys.readouterr().out
    assert said in told
    assert noticed is ("UNNOTICED" not in said)
