"""Settings from the environment: which variable means which setting, and who wins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.config import declared
from crawler.config.environment import from_environment, problems_of_environment
from tests.support import warm
from tests.support.places import PROJECT

KNOWN = {"DOWNLOAD_DELAY", "CRAWLER_CONTACT", "LANGUAGES", "CORPUS_DIR"}


def test_a_variable_means_the_setting_behind_its_prefix() -> None:
    given = {"CRAWLER_DOWNLOAD_DELAY": "5", "CRAWLER_LANGUAGES": "de,en", "PATH": "/bin", "LANGUAGES": "fr"}
    assert from_environment(given, KNOWN) == {"DOWNLOAD_DELAY": "5", "LANGUAGES": "de,en"}


@pytest.mark.parametrize("variable", ["CRAWLER_CONTACT", "CRAWLER_CRAWLER_CONTACT"])
def test_a_setting_whose_name_has_the_prefix_goes_by_both_spellings(variable: str) -> None:
    assert from_environment({variable: "a@b.example"}, KNOWN) == {"CRAWLER_CONTACT": "a@b.example"}


def test_an_empty_variable_counts_as_unset() -> None:
    assert from_environment({"CRAWLER_LANGUAGES": ""}, KNOWN) == {}


def test_a_name_nobody_knows_is_an_error_with_a_hint() -> None:
    said = problems_of_environment({"CRAWLER_DOWNLOAD_DELY": "5", "CRAWLER_XYZ": "1", "OTHER": "x"}, KNOWN)
    assert said == [
        "the environment sets CRAWLER_DOWNLOAD_DELY, which is not a setting; did you mean CRAWLER_DOWNLOAD_DELAY?",
        "the environment sets CRAWLER_XYZ, which is not a setting: docs/settings.md lists them",
    ]


def test_every_declared_setting_can_be_set() -> None:
    names = {f"CRAWLER_{name}": "x" for name in declared()}
    assert from_environment(names, declared()) == dict.fromkeys(declared(), "x")
    assert problems_of_environment(names, declared()) == []


# --- the real thing --------------------------------------------------------------------------------------------------
SHOW = (
    "import json, sys; from scrapy.utils.project import get_project_settings; from crawler.runtime import load;"
    "s = get_project_settings(); [s.set(*a.split('='), priority='cmdline') for a in sys.argv[1:]];"
    "c = load(s); print(json.dumps([c.frontier.delay_seconds, c.frontier.max_inflight, s.getint('CONCURRENT_REQUESTS'),"
    " s.get('LOG_LEVEL')]))"
)


def shown(folder: Path, environment: dict[str, str], *line: str, module: str = "crawler.settings") -> list[object]:
    env = {**os.environ, **environment, "PYTHONPATH": f"{PROJECT}:{folder}", "SCRAPY_SETTINGS_MODULE": module}
    done = subprocess.run(
        [sys.executable, "-c", SHOW, *line], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_the_command_line_comes_before_the_environment_and_that_before_settings_py(tmp_path: Path) -> None:
    (tmp_path / "own_settings.py").write_text("from crawler.settings import *\nDOWNLOAD_DELAY = 3\n")
    environment = {"CRAWLER_DOWNLOAD_DELAY": "5", "CRAWLER_CONCURRENT_REQUESTS": "7", "CRAWLER_LOG_LEVEL": "ERROR"}
    assert shown(tmp_path, {}) == [1.0, 16, 16, "WARNING"]
    assert shown(tmp_path, {}, module="own_settings")[0] == 3.0
    assert shown(tmp_path, environment) == [5.0, 7, 7, "ERROR"]
    assert shown(tmp_path, environment, module="own_settings")[0] == 5.0
    assert shown(tmp_path, environment, "DOWNLOAD_DELAY=9", module="own_settings")[0] == 9.0


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "scrapy", "crawl", "corpus", "-a", "url=http://127.0.0.1:9/"],
        ["-m", "scrapy", "frontier", "status"],
        ["-m", "scrapy", "seed", "-a", "url=http://127.0.0.1:9/"],
        ["-m", "crawler.spark.job", "--archive", "x.warc", "--output", "y"],
    ],
    ids=["crawl", "frontier", "seed", "spark"],
)
def test_every_command_refuses_a_variable_that_is_misspelt(tmp_path: Path, command: list[str]) -> None:
    env = {**os.environ, "PYTHONPATH": str(PROJECT), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    env["CRAWLER_DOWNLOAD_DELY"] = "5"
    done = warm.run([sys.executable, *command], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "CRAWLER_DOWNLOAD_DELY, which is not a setting; did you mean CRAWLER_DOWNLOAD_DELAY?" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "corpus").exists()
