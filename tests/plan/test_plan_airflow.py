"""What the Airflow package makes of `plan steps --json`, without Airflow; bench/plan/airflow.py runs a real one."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys

import pytest

from tests.plan.conftest import Desk
from tests.support.places import PROJECT

PACKAGE = PROJECT / "integrations" / "airflow" / "gristmill_airflow"


@pytest.fixture
def made(monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGE.parent))
    yield importlib.import_module("gristmill_airflow")
    sys.modules.pop("gristmill_airflow", None)


def test_the_package_imports_neither_the_crawler_nor_its_framework():
    trees = [ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")]
    imported = {alias.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Import)
                for alias in node.names}  # fmt: skip
    imported |= {str(node.module) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported
    assert {name.partition(".")[0] for name in imported} <= {
        "__future__",
        "json",
        "shlex",
        "pathlib",
        "typing",
        "airflow",
    }


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 1), (2, 99), (3, 99), (143, 143)])
def test_a_code_after_which_a_second_try_changes_nothing_becomes_one_that_is_not_tried_again(made, code, expected):
    codes = {"done": [0], "again": [1, 130, 143], "never": [2, 3]}
    task = {"name": "a", "call": ["gristmill", "plan", "run", "it's.yaml", "--run", "{run}"]}
    line = made.command_of(task, codes, program=f"{sys.executable} -c 'import sys; sys.exit({code})'")
    assert f"--run {made.RUN}" in line
    line = line.replace(made.RUN, "2026-01-01T00:00:00+00:00")
    assert subprocess.run(["bash", "-c", line], check=False).returncode == expected


def test_the_answer_of_plan_steps_is_read_and_anything_else_is_refused(made, desk: Desk):
    desk.write("name: a\ncorpus: c\nseeds: [https://example.org/]\nsteps: [dataset verify c]\n")
    steps = desk.folder / "steps.json"
    steps.write_text(desk.plan("steps", "--json").out)
    assert [task["name"] for task in made.plan_of(steps)["tasks"]] == ["a", "dataset-verify"]
    steps.write_text(json.dumps({"schema": "gristmill/plan-steps", "version": 2}))
    with pytest.raises(ValueError, match="expected the answer of `gristmill plan steps --json`"):
        made.plan_of(steps)
