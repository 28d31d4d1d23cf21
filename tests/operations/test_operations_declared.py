"""Operations are loaded when they are called for, need no Scrapy, and other packages add theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.operations import built_in
from tests.commands.conftest import Done, process_environment, scrapy_process
from tests.support.places import PROJECT

LIMIT = 60


def modules_after(code: str, folder: Path) -> set[str]:
    """Names of the modules of this package that a new interpreter has loaded after the code."""
    code += "\nimport sys\nprint(*(name for name in sys.modules if name.startswith('crawler.operations.')))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True,
        env=process_environment(PYTHONPATH=str(PROJECT)), timeout=LIMIT,
    )  # fmt: skip
    return set(done.stdout.splitlines()[-1].split())


PARSED = """
import argparse
from scrapy.utils.project import get_project_settings
from crawler.commands.dataset import Command
command = Command()
command.settings = get_project_settings()
parser = argparse.ArgumentParser()
command.add_options(parser)
"""
WORK_MODULES = {str(operation.work).partition(":")[0] for operation in built_in.OPERATIONS.values()}


def test_the_help_loads_no_operation_and_a_call_the_one_that_was_named(tmp_path):
    assert modules_after(PARSED + "parser.format_help()", tmp_path) & WORK_MODULES == set()
    code = PARSED + "command.process_options([], parser.parse_args(['verify', 'corpus']))"
    assert modules_after(code, tmp_path) & WORK_MODULES == {"crawler.operations.verify"}


def test_every_operation_runs_where_there_is_no_scrapy(corpus, tmp_path):
    code = """
import argparse, sys
sys.modules.update(scrapy=None, twisted=None)
from crawler.config import from_mapping
from crawler.operations.built_in import OPERATIONS
for operation in OPERATIONS.values():
    operation.loaded()
for words in (["verify", "corpus"], ["select", "--out", "english", "corpus"], ["log", "english"]):
    work = OPERATIONS[words[0]].loaded()
    parser = argparse.ArgumentParser()
    work.declare(parser)
    answer = work.run(parser.parse_args(words[1:]), lambda **more: from_mapping(more))
    assert answer.code == 0 and answer.facts, answer.problems
"""
    assert modules_after(code, tmp_path) >= WORK_MODULES


# --- of another package ---------------------------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path) -> Path:
    """A folder with what pip leaves behind of the package in tests/examples/outside."""
    package = PROJECT / "tests" / "examples" / "outside" / "gristmill_example"
    folder = tmp_path / "installed"
    info = folder / "gristmill_example-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / package.name).symlink_to(package)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gristmill-example\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gristmill.operations]\nwords = gristmill_example.operation:OPERATION\n")
    return folder


def of_outside(folder: Path, outside: Path, *words: object) -> Done:
    return scrapy_process(folder, "dataset", *words, PYTHONPATH=f"{PROJECT}:{outside}")


def test_an_operation_of_another_package_is_one_like_ours(corpus, outside, tmp_path):
    shown = of_outside(tmp_path, outside, "-h")
    look = shown.out.partition("Look:\n")[2].partition("\n\n")[0]
    assert "words         count the words of the kept documents by language" in look
    said = of_outside(tmp_path, outside, "words", "corpus")
    found = json.loads(of_outside(tmp_path, outside, "words", "corpus", "--json").out)
    assert found["schema"] == "gristmill/dataset-words"
    assert said.out == f"en: {found['words']:,} words\n" and found["languages"] == {"en": found["words"]}
    wrong = of_outside(tmp_path, outside, "words", "--language", "eng", "corpus", "--json")
    assert (wrong.code, json.loads(wrong.out)["error"]["problems"]) == (
        2, ["--language: expected a code of two letters"],
    )  # fmt: skip
    none = of_outside(tmp_path, outside, "words", "nothere", "--json")
    assert (none.code, none.err) == (1, "error: nothere: there is no such folder; expected the CORPUS_DIR of a crawl\n")


def test_an_operation_of_another_package_that_cannot_be_loaded_is_told_and_ours_go_on(corpus, outside, tmp_path):
    points = next(outside.glob("*.dist-info")) / "entry_points.txt"
    two = ("words = nowhere:OPERATION", "verify = gristmill_example.operation:OPERATION")
    points.write_text("\n".join(["[gristmill.operations]", *two]))
    done = of_outside(tmp_path, outside, "verify", "corpus")
    assert (done.code, done.out.startswith("ok: ")) == (0, True)
    first, second = done.err.splitlines()
    assert first.startswith("warning: gristmill-example, entry point gristmill.operations verify: gristmill has a part")
    assert "nowhere:OPERATION cannot be loaded" in second
    assert of_outside(tmp_path, outside, "words", "corpus").code == 2
