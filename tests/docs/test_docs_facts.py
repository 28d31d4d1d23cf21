"""What the pages say about settings, commands, defaults and numbers is recomputed from the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scrapy.settings import default_settings

from crawler.commands.dataset import Command as Dataset
from crawler.config import declared
from crawler.stages.pii.id_rules import ID_RULES
from tests.docs.pages import PAGES, ROOT, spans
from tests.middlewares.wire.policy_cases import CASES

NO_SETTINGS = {"REDIS_URL", "REDIS_HOST", "ASYNCIO_EVENT_LOOP"}
"""Names that a page may give although no section declares them."""
OF_OTHERS = re.compile(r"(?:AWS|FSSPEC|HF|WARC|WARCIO|DATATROVE|CRAWLER_SHARED|STORE)_\w*")
"""Environment variables of other programs."""
NUMBER = re.compile(r"`([A-Z][A-Z_]{4,})`[ (=]{1,2}(\d[\d,]*(?:\.\d+)?)\b")
COMMANDS = {path.stem for path in (ROOT / "crawler" / "commands").glob("*.py")} | {
    "crawl", "demo", "replay", "settings", "version",
}  # fmt: skip


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def constants() -> set[str]:
    """Upper-case names of the code that are no settings: constants, types of placeholders, scripts."""
    found: set[str] = set()
    for file in [*(ROOT / "crawler").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]:
        found |= set(re.findall(r"\b[A-Z][A-Z_]{3,}\b", file.read_text("utf-8")))
    return found


@pytest.fixture(scope="module")
def known() -> set[str]:
    of_scrapy = {name for name in dir(default_settings) if name.isupper()}
    return {*declared(), *of_scrapy, *constants(), *NO_SETTINGS}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_setting_that_a_command_gives_exists(page: Path) -> None:
    given = {name for span in spans(page) for name in re.findall(r"-s ([A-Z_]+)=", span)}
    of_scrapy = {name for name in dir(default_settings) if name.isupper()}
    assert given - set(declared()) - of_scrapy - {"NAME"} == set()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_name_in_capitals_is_one_of_the_program(page: Path, known: set[str]) -> None:
    names = {name for span in spans(page) for name in re.findall(r"(?<![\w$<-])([A-Z]{2,}(?:_[A-Z]+)+)\b", span)}
    unknown = {name for name in names if name not in known and not OF_OTHERS.fullmatch(name)}
    assert named(page) == "CHANGELOG.md" or unknown == set()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_default_in_a_sentence_is_that_of_the_setting(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    shown = [(name, float(value.replace(",", ""))) for name, value in NUMBER.findall(text) if name in declared()]
    wrong = {name: (value, declared()[name].default) for name, value in shown if value != declared()[name].default}
    assert named(page) == "CHANGELOG.md" or wrong == {}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_default_in_a_table_of_settings_is_that_of_the_setting(page: Path) -> None:
    rows = re.findall(
        r"^\| `([A-Z][A-Z_]{4,})` \| `?(\d[\d,]*(?:\.\d+)?)`? \|", page.read_text("utf-8"), flags=re.MULTILINE
    )
    shown = [(name, float(value.replace(",", ""))) for name, value in rows if name in declared()]
    wrong = {name: (value, declared()[name].default) for name, value in shown if value != declared()[name].default}
    assert named(page) == "docs/settings.md" or wrong == {}  # that page is generated, and has lists as well


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_and_operation_exists(page: Path) -> None:
    commands = [
        found for span in spans(page) for found in re.findall(r"\b(?:gristmill|scrapy) ([a-z]+)(?: ([a-z]+))?", span)
    ]
    assert {name for name, _ in commands} <= COMMANDS
    assert {operation for name, operation in commands if name == "dataset" and operation} <= set(Dataset.operations)


def test_the_readme_counts_the_cases_of_the_policy_table() -> None:
    assert f"shows {len(CASES)} ways" in " ".join((ROOT / "README.md").read_text("utf-8").split())


def test_the_page_counts_the_identity_numbers() -> None:
    page = (ROOT / "docs" / "personal-data.md").read_text("utf-8")
    (least,) = re.findall(r"Identity numbers: more than (\d+) kinds", page)
    assert int(least) < len(ID_RULES) <= int(least) + 20


def test_every_room_has_tests_in_a_folder_of_its_name() -> None:
    rooms = {path.name for path in (ROOT / "crawler").iterdir() if (path / "__init__.py").exists()}
    assert "a folder for each room of `crawler/`" in (ROOT / "README.md").read_text("utf-8")
    assert rooms - {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} == set()


def test_the_page_on_duplicates_computes_the_curve_of_the_default_bands() -> None:
    page = " ".join((ROOT / "docs" / "duplicates.md").read_text("utf-8").split())
    bands, rows = declared()["NEARDUP_BANDS"].default, declared()["NEARDUP_ROWS"].default
    shares = [f"{100 * (1 - (1 - s**rows) ** bands):.0f} % at {s}" for s in (0.5, 0.7, 0.8, 0.9)]
    assert f"at {bands} × {rows} that is {', '.join(shares)}" in page
    assert f"| `NEARDUP_BANDS`, `NEARDUP_ROWS` | {bands}, {rows} |" in page
    assert f"at {bands * rows} positions" in page
