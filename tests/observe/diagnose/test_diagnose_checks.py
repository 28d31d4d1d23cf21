"""Whatever keeps a stage from working is said before the first page, by every way in, in the same words."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.places import PROJECT

WRONG = {
    "LANGUAGE_IDENTIFIER": (
        "fasttext:/nowhere/lid.bin",
        "LANGUAGE_IDENTIFIER names /nowhere/lid.bin, which is not a file",
    ),
    "LANGUAGES": ("qq", "LANGUAGES: no identifier knows 'qq'"),
    "PII_MODELS": ("pl:pl_core_news_sm", "needs the spaCy model pl_core_news_sm"),
    "EVAL_SETS": ("{folder}/quiz.jsonl", "EVAL_SETS"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "quiz.jsonl").write_text("no JSON at all\n")
    (tmp_path / "one.warc").write_bytes(b"")
    return tmp_path


def complaints(folder: Path, *command: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(PROJECT), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    done = warm.run([sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0, done.stdout
    return done.stderr


def settings(folder: Path, flag: str, names: list[str]) -> list[str]:
    values = {name: WRONG[name][0].format(folder=folder) for name in names}
    return [part for name, value in values.items() for part in (flag, f"{name}={value}")]


TOGETHER = [name for name in WRONG if name != "LANGUAGES"]


@pytest.mark.parametrize("names", [TOGETHER, ["LANGUAGES"]], ids=["together", "languages"])
@pytest.mark.parametrize(
    ("flag", "command"),
    [
        ("-s", ["-m", "scrapy", "diagnose", "--archive", "one.warc"]),
        ("-s", ["-m", "scrapy", "crawl", "replay", "-a", "archive=one.warc"]),
        ("-s", ["-m", "scrapy", "crawl", "corpus", "-a", "url=http://127.0.0.1:9/"]),
        ("--set", ["-m", "crawler.spark.job", "--archive", "one.warc", "--output", "out"]),
    ],
    ids=["diagnose", "replay", "crawl", "spark"],
)
def test_every_way_in_names_everything_that_keeps_a_stage_from_working(
    folder: Path, flag: str, command: list[str], names: list[str]
) -> None:
    said = complaints(folder, *command, *settings(folder, flag, names))
    missing = [WRONG[name][1] for name in names if WRONG[name][1] not in said]
    assert missing == [], said
