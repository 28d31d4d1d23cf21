"""The table of rooms in `docs/architecture.md` agrees with import-linter, with the folders and with the imports."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import grimp

ROOT = Path(__file__).resolve().parents[2]
FRAMEWORKS = {"scrapy": "Scrapy", "twisted": "Twisted", "redis": "Redis", "scrapy_redis": "Redis", "pyspark": "Spark"}
ORDER = ["Scrapy", "Twisted", "Redis", "Spark"]


class Row(NamedTuple):
    """One row of the table of rooms."""

    group: str
    room: str
    question: str
    frameworks: list[str]


@cache
def table() -> list[Row]:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    found = re.findall(r"^\| (\w+) \| `(\w+)(?:/|\.py)` \| (.+?) \| ([^|]+?) \|$", page, flags=re.MULTILINE)
    return [Row(group, room, q, [] if libs == "–" else libs.split(", ")) for group, room, q, libs in found]


@cache
def contracts() -> list[dict[str, object]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("crawler", include_external_packages=True, cache_dir=None)


def room_of(module: str) -> str:
    return module.split(".")[1]


def groups() -> list[set[str]]:
    """The rooms of each group of the contract, from top to bottom."""
    (contract,) = [c for c in contracts() if c["type"] == "layers"]
    names: list[str] = contract["layers"]  # type: ignore[assignment]
    return [{room.strip() for room in line.split(":")} for line in names]


def test_every_folder_and_module_of_the_product_stands_in_the_table_once() -> None:
    there = [p.stem for p in (ROOT / "crawler").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()]
    assert sorted(row.room for row in table()) == sorted(set(there) - {"__init__"})


def test_a_room_is_written_as_the_folder_or_module_that_it_is() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    wrong = [row.room for row in table() if f"`{row.room}/`" in page and not (ROOT / "crawler" / row.room).is_dir()]
    assert wrong == []


def test_the_groups_of_the_table_are_those_of_the_contract_from_top_to_bottom() -> None:
    order = list(dict.fromkeys(row.group for row in table()))
    assert [{row.room for row in table() if row.group == group} for group in order] == groups()
    assert [row.group for row in table()] == sorted((row.group for row in table()), key=order.index)


def test_every_import_between_groups_points_down_the_table() -> None:
    order = list(dict.fromkeys(row.group for row in table()))
    place = {row.room: order.index(row.group) for row in table()}
    upward = [
        f"{importer} imports {imported}"
        for importer in graph().modules
        if importer.startswith("crawler.")
        for imported in graph().find_modules_directly_imported_by(importer)
        if imported.startswith("crawler.") and place[room_of(importer)] > place[room_of(imported)]
    ]
    assert upward == []


def test_the_table_names_the_frameworks_that_each_room_imports() -> None:
    real: dict[str, set[str]] = {row.room: set() for row in table()}
    for importer in graph().modules:
        if importer.startswith("crawler."):
            imported = graph().find_modules_directly_imported_by(importer)
            real[room_of(importer)] |= {FRAMEWORKS[name] for name in imported if name in FRAMEWORKS}
    assert {row.room: row.frameworks for row in table()} == {
        room: sorted(names, key=ORDER.index) for room, names in real.items()
    }


def test_every_room_answers_a_question() -> None:
    assert [row.room for row in table() if "?" not in row.question] == []


def test_the_pure_rooms_that_the_page_names_are_those_of_the_contract() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    (sentence,) = re.findall(r"\n\n(`[^|]+?)\s+import\s+no\s+Scrapy,\s+Twisted,\s+Redis\s+or\s+Spark", page)
    (pure,) = [c for c in contracts() if str(c["name"]).startswith("Pure rooms")]
    named = {f"crawler.{room}" for room in re.findall(r"`(\w+)`", sentence)}
    assert named == set(pure["source_modules"])  # type: ignore[call-overload]
