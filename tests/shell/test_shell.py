"""The outer shell: make, requirements and scripts keep the two promises of the README."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from crawler.storage.files.place import DRIVERS
from tests.support.places import PROJECT

WITH_SCRAPY = {"twisted", "w3lib", "zope", "itemadapter", "parsel", "typing_extensions"}  # its own interface and types
OWN = {"crawler", "demo", "bench", "tests", "scripts"}
OPTIONAL = {"pyspark", "pyarrow", "duckdb", "atheris"}  # imported where it is used; its tests skip with a reason
OPTIONAL |= {"crawlee", "pdfminer"}  # peers of benches, in an environment of their own or where they are installed
OPTIONAL |= {"tokenizers", "tiktoken"}  # of mixtures, which say what is missing
OPTIONAL |= {"plugged"}  # a test writes it
OPTIONAL |= {"anthropic", "openai", "google", "babel"}  # of `gristmill llm`, which says what is missing
OPTIONAL |= {"PIL"}  # of `gristmill dataset images`, which says what is missing
OPTIONAL |= {"cairocffi", "docx", "fpdf", "reportlab", "typst"}  # makers of bench files, where they are installed
OPTIONAL |= {"confluent_kafka"}  # of `gristmill stream` to Kafka, which says what is missing
OPTIONAL |= {"mwparserfromhell"}  # of wikis, whose pages say what is missing
OPTIONAL |= {"torch"}  # of `gristmill dataset trial --transformer`, which says what is missing
EXPLORE = {"duckdb", "starlette", "uvicorn"}  # of `gristmill explore`, which says what is missing
LATER = {"compression"}  # in the standard library from Python 3.14 on


def requirements(*names: str) -> set[str]:
    """The distributions that lists of pyproject.toml ask for, in normal form; no name: what every crawl needs."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    lists = [project["optional-dependencies"][name] for name in names] or [project["dependencies"]]
    return {normal(re.split(r"[<>=;\[ ]", line)[0]) for lines in lists for line in lines} - {"gristmill"}


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
    required = requirements() | requirements("browser", "documents")
    assert missing(imports("crawler", "demo") - OPTIONAL - EXPLORE - LATER, required) == {}


def test_what_an_extra_brings_is_imported_by_the_room_that_it_is_for() -> None:
    assert requirements("spark") == {"pyspark"} <= imports("crawler/spark")
    assert requirements("parquet") == {"pyarrow", "duckdb"} <= imports("crawler/storage", "crawler/dataset")
    assert requirements("explore") == EXPLORE <= imports("crawler/explore")
    files = {"pypdfium2", "pypdf", "mwparserfromhell"}
    assert requirements("documents") == files <= imports("crawler/stages/documents")
    assert requirements("llm") == {"anthropic", "openai", "google-genai", "babel"}
    assert imports("crawler/llm") >= {"anthropic", "openai", "google", "babel"}
    assert requirements("images") == {"pillow", "pyarrow"}
    assert imports("crawler/images") >= {"PIL"}
    assert requirements("trial") == {"torch"} <= imports("crawler/trial")
    assert requirements("browser") == {"scrapy-playwright", "playwright"}
    assert imports("crawler/browser") >= {"scrapy_playwright", "playwright"}


def test_the_extra_all_brings_every_other_one_but_that_of_the_developers() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (named,) = re.findall(r"gristmill\[(.*)\]", extras["all"][0])
    assert set(named.split(",")) == set(extras) - {"all", "dev"}


def test_the_driver_that_a_message_asks_for_is_an_extra() -> None:
    assert {*DRIVERS.values()} == {"s3", "gcs", "azure"}
    assert requirements("s3", "gcs", "azure") == {"s3fs", "gcsfs", "adlfs"}


def test_every_package_that_the_tests_import_is_required() -> None:
    required = requirements() | requirements("browser", "documents", "explore", "llm", "parquet", "s3", "stream", "dev")
    assert missing(imports("tests", "bench") - OPTIONAL, required) == {}


def test_requirements_txt_is_written_from_the_project_with_a_reason_for_each_line(monkeypatch) -> None:
    monkeypatch.syspath_prepend(PROJECT / "scripts")
    import requirements as script

    text = (PROJECT / "requirements.txt").read_text()
    assert text == script.text(), "run scripts/requirements.py"
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert {normal(re.split(r"[<>=; ]", line)[0]) for line in lines} == requirements() | requirements("browser")
    card = {"scrapy", "scrapy-redis", "scrapy-playwright", "trafilatura", "langdetect", "datasketch"}
    assert requirements() | requirements("browser") >= card | {"presidio-analyzer"}
    assert [line for line in lines if not re.search(r"  # \w", line)] == []


def test_what_is_installed_without_what_it_requires_is_pinned_by_hash() -> None:
    for name in ("requirements-model.txt", "requirements-dev-pinned.txt"):
        lines = [line for line in (PROJECT / name).read_text().splitlines() if line and not line.startswith("#")]
        assert lines
        assert [line for line in lines if not re.fullmatch(r"\S+==\S+ --hash=sha256:[0-9a-f]{64}", line)] == []
        assert f"--require-hashes --no-deps -r {name}" in (PROJECT / "Makefile").read_text()


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


def test_the_image_holds_the_product_and_starts_it() -> None:
    lines = (PROJECT / "Dockerfile").read_text().splitlines()
    assert "COPY --from=build /app /app" in lines
    assert 'ENTRYPOINT ["gristmill"]' in lines
    assert any(line.startswith("USER ") and line != "USER root" for line in lines)


def test_every_folder_at_the_top_stands_in_the_readme_and_nothing_else_is_committed_there() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    folders = {line.partition("/")[0] for line in listed.stdout.splitlines() if "/" in line}
    table = (PROJECT / "README.md").read_text("utf-8").partition("## The repository")[2]
    assert {name for name in folders if not name.startswith(".")} == set(re.findall(r"^\| `([\w-]+)/` \|", table, re.M))
