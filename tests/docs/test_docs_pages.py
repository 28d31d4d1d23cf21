"""What every page keeps: short lines, names of things that exist, links that lead somewhere, a place in the index."""

from __future__ import annotations

import ast
import fnmatch
import re
from pathlib import Path

import pytest

from crawler.config import declared
from tests.docs.pages import CODE_FOLDERS, PAGES, ROOT, anchors, files, prose, spans

LONGEST = 120
OPENINGS = ("Beside", "Behind", "Under", "Between", "Below", "Above")
"""Words with which a module or a page would say where it lies instead of what it does."""
PRIVATE_WORDS = re.compile(
    r"\b(pressed|pressing|lets? go of|whence|in the dress of|letting go|sowing|sown|tending|custody|dried up)\b",
    re.IGNORECASE,
)
WRITTEN = {"docs/policy-table.md"}  # by `bench`; its lines are its own
ELSEWHERE = {"crawler.zip"}  # a file that a command of the page makes


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_prose_has_short_lines(page: Path) -> None:
    long = [number for number, line in prose(page) if len(line) > LONGEST]
    assert named(page) in WRITTEN or long == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_row_of_a_table_is_one_line(page: Path) -> None:
    """A row that a line break has cut is text behind a table to a reader."""
    lines = page.read_text("utf-8").splitlines()
    assert [n for n, line in enumerate(lines, 1) if line.startswith("|") and not line.rstrip().endswith("|")] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_prose_has_no_private_words(page: Path) -> None:
    assert [(number, found[0]) for number, line in prose(page) if (found := PRIVATE_WORDS.search(line))] == []


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#:\s]+)", index.read_text("utf-8"))}
    assert [
        named(page) for page in (ROOT / "docs").rglob("*.md") if page != index and page.resolve() not in linked
    ] == []


def test_the_readme_leads_to_the_index() -> None:
    assert "](docs/README.md)" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading(page: Path) -> None:
    broken = []
    for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text("utf-8")):
        target = (page.parent / link).resolve() if link else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{link}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_path_and_module_exists(page: Path) -> None:
    there = files()
    missing = [
        path
        for span in spans(page)
        for path in re.findall(rf"(?<![\w/.-])(?:{'|'.join(CODE_FOLDERS)})/[\w./*-]*[\w*]", span)
        if "<" not in span and "…" not in span and not _cached(path) and not fnmatch.filter(there, path)
    ]
    missing += [
        module
        for span in spans(page)
        for module in re.findall(r"\b(?:crawler|bench|demo|tests)(?:\.[a-z_]\w*)+", span)
        if module not in ELSEWHERE and not _module_exists(module, there)
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_file_that_is_named_without_its_folder_exists(page: Path) -> None:
    there = files()
    bare = {name for span in spans(page) for name in re.findall(r"(?<![\w/.*-])(?:\w+/)*\w+\.(?:py|lua)\b", span)}
    assert [name for name in sorted(bare) if not any(f"/{file}".endswith(f"/{name}") for file in there)] == []


def _cached(path: str) -> bool:
    """A folder of `bench/.cache` is there once a bench has run, `crawler/COMMIT` in an image."""
    return path.startswith("bench/.cache") or path == "crawler/COMMIT"


def _module_exists(module: str, there: frozenset[str]) -> bool:
    """The module, or the module that has the name at its end."""
    path = module.replace(".", "/")
    parent = path.rpartition("/")[0]
    return bool({path, f"{path}.py", f"{parent}.py", f"{parent}/__init__.py"} & there)


def test_every_default_of_the_readme_is_that_of_the_setting() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\S.*?) \|", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE)
    assert len(rows) > 10
    wrong = {name: (shown, _shown(name)) for name, shown in rows if shown.strip("`") not in _shown(name)}
    assert wrong == {}


def _shown(name: str) -> set[str]:
    """How a default may stand in a table."""
    default = declared()[name].default
    if default in (None, "", ()):
        return {"–", "all"}
    if default is False:
        return {"off"}
    if default == -1:
        return {"cores"}
    return {", ".join(default) if isinstance(default, tuple) else str(default)}


@pytest.mark.parametrize("page", ["SECURITY.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    named_tests = set(re.findall(r"`(test_\w+)`", (ROOT / page).read_text("utf-8")))
    there = {
        node.name
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(named_tests) > 10
    assert named_tests - there == set()


def first_line(file: Path) -> str:
    return (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0]


def test_no_module_opens_with_where_it_lies() -> None:
    modules = (ROOT / "crawler").rglob("*.py")
    assert [named(file) for file in modules if first_line(file).startswith(OPENINGS)] == []
