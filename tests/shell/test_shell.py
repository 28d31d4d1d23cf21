"""The outer shell: make, requirements and scripts keep the two promises of the README."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.support.places import PROJECT

WITH_SCRAPY = {"twisted", "w3lib", "zope", "itemadapter", "parsel", "typing_extensions"}  # its own interface and types
OWN = {"crawler", "demo", "bench", "tests"}
OPTIONAL = {"pyspark", "pyarrow", "duckdb", "atheris"}  # imported where it is used; its tests skip with a reason
OPTIONAL |= {"crawlee"}  # the peer of a bench, in an environment of its own
OPTIONAL |= {"scipy", "tokenizers", "tiktoken"}  # of mixtures, which say what is missing
EXPLORE = {"duckdb", "starlette", "uvicorn"}  # of `scrapy explore`, which says what is missing
LATER = {"compression"}  # in the standard library from Python 3.14 on


def requirements(name: str) -> dict[str, str]:
    """Distribution name in normal form → the whole line."""
    lines = [line for line in (PROJECT / name).read_text().splitlines() if line and not line.startswith(("#", "-r"))]
    return {normal(re.split(r"[<>=;\[ ]", line)[0]): line for line in lines}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imports(*folders: str) -> set[str]:
    """Third-party top-level modules that Python files below the folders import."""
    names: set[str] = set()
    for file in (f for folder in folders for f in (PROJECT / folder).rglob("*.py") if ".cache" not in f.parts):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - OWN - WITH_SCRAPY


def missing(modules: set[str], required: set[str]) -> dict[str, list[str]]:
    owners = packages_distributions()
    return {m: owners.get(m, []) for m in modules if not required & {normal(d) for d in owners.get(m, [])}}


def test_every_package_that_the_product_imports_is_required() -> None:
    assert missing(imports("crawler", "demo") - OPTIONAL - EXPLORE - LATER, set(requirements("requirements.txt"))) == {}


def test_what_the_batch_job_needs_on_top_is_required_apart() -> None:
    assert set(requirements("requirements-spark.txt")) == {"pyspark"} <= imports("crawler/spark")


def test_what_parquet_and_sql_need_on_top_is_required_apart() -> None:
    assert set(requirements("requirements-datasets.txt")) == {"pyarrow", "duckdb", "scipy"}
    assert imports("crawler/storage", "crawler/dataset") >= {"pyarrow", "duckdb", "scipy"}


def test_what_the_view_in_the_browser_needs_on_top_is_required_apart() -> None:
    assert set(requirements("requirements-explore.txt")) == EXPLORE <= imports("crawler/explore")


def test_every_package_that_the_tests_import_is_required() -> None:
    required = set(requirements("requirements.txt")) | set(requirements("requirements-dev.txt"))
    assert missing(imports("tests", "bench") - OPTIONAL, required) == {}


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-spark.txt", "requirements-datasets.txt", "requirements-explore.txt"]
)
def test_every_requirement_has_a_reason(name: str) -> None:
    assert [line for line in requirements(name).values() if not re.search(r"# \w", line)] == []


def test_every_command_of_the_readme_is_a_target() -> None:
    makefile = (PROJECT / "Makefile").read_text()
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(
            r"^(?:`?make) (\w+)|`make (\w+)", (PROJECT / document).read_text(), flags=re.MULTILINE
        ):
            name = target[0] or target[1]
            assert re.search(rf"^{name}:", makefile, flags=re.MULTILINE), f"{document}: make {name}"


def test_links_of_the_documentation_point_to_files() -> None:
    broken = [
        f"{page.relative_to(PROJECT)}: {link}"
        for page in [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), PROJECT / "demo" / "README.md"]
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_make_alone_says_what_it_can_do() -> None:
    done = subprocess.run(["make", "-s"], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert "make demo" in done.stdout
    assert "make test" in done.stdout


def find_python(**environment: str) -> subprocess.CompletedProcess[str]:
    script = PROJECT / "scripts" / "find-python.sh"
    return subprocess.run([str(script)], env=environment, capture_output=True, text=True, check=False)


def test_a_python_that_is_new_enough_is_found() -> None:
    done = find_python(PATH=os.environ["PATH"], PYTHON=sys.executable)
    assert (done.returncode, done.stdout.strip()) == (0, sys.executable)


def test_without_python_the_error_says_what_to_install(tmp_path: Path) -> None:
    done = find_python(PATH=str(tmp_path))
    assert done.returncode == 1
    assert "No Python 3.11 or newer" in done.stderr


def test_a_python_without_venv_is_named_with_the_package_that_is_missing(tmp_path: Path) -> None:
    fake = tmp_path / "python3"
    fake.write_text('#!/bin/sh\ncase "$2" in *venv*) exit 1;; *) exit 0;; esac\n')
    fake.chmod(0o755)
    done = find_python(PATH=str(tmp_path))
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr


def test_continuous_integration_runs_make_test() -> None:
    script = PROJECT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make --no-print-directory test" in script.read_text()


def test_the_image_holds_the_product_and_starts_scrapy() -> None:
    lines = (PROJECT / "Dockerfile").read_text().splitlines()
    assert "COPY crawler crawler" in lines
    assert 'ENTRYPOINT ["scrapy"]' in lines
    assert any(line.startswith("USER ") and line != "USER root" for line in lines)


def test_every_folder_at_the_top_stands_in_the_readme_and_nothing_else_is_committed_there() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    folders = {line.partition("/")[0] for line in listed.stdout.splitlines() if "/" in line}
    table = (PROJECT / "README.md").read_text("utf-8").partition("## The repository")[2]
    assert {name for name in folders if not name.startswith(".")} == set(re.findall(r"^\| `([\w-]+)/` \|", table, re.M))
