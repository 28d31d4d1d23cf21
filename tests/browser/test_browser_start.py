"""Is there a browser? Asked before the first request, and answered in sentences."""

from __future__ import annotations

import stat
from pathlib import Path

from crawler.browser.find import browser_path, problems
from crawler.config.browser import BrowserConfig
from tests.support.process import scrapy

NOTHING = {"HOME": "/nonexistent", "PATH": "/nonexistent"}


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_the_named_browser_goes_before_playwrights_own_and_that_before_the_systems(tmp_path: Path) -> None:
    named, system = program(tmp_path / "mine"), program(tmp_path / "bin" / "chromium")
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    assert browser_path(BrowserConfig(), environ) == str(system)
    own = program(tmp_path / ".cache" / "ms-playwright" / "chromium-1200" / "chrome-linux" / "chrome")
    assert browser_path(BrowserConfig(), environ) == str(own)
    assert browser_path(BrowserConfig(path=str(named)), environ) == str(named)


def test_the_headless_shell_goes_before_the_whole_browser_of_the_same_place(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    for folder, whole, shell in (
        (tmp_path / "bin", "chromium", "chromium-headless-shell"),
        (
            tmp_path / ".cache" / "ms-playwright",
            "chromium-1200/chrome-linux64/chrome",
            "chromium_headless_shell-1200/chrome-headless-shell-linux64/chrome-headless-shell",
        ),
    ):
        for name in (whole, shell):
            path = program(folder / name)
            assert browser_path(BrowserConfig(), environ) == str(path)


def test_without_a_browser_auto_goes_on_and_always_says_what_to_do() -> None:
    assert browser_path(BrowserConfig(), NOTHING) is None
    assert problems(BrowserConfig(mode="auto"), environ=NOTHING) == []
    (problem,) = problems(BrowserConfig(mode="always"), environ=NOTHING)
    assert problem.startswith("JS_MODE=always needs a browser, and none was found: install one")
    (listed,) = problems(BrowserConfig(), ["allowlist, line 3, example.org"], NOTHING)
    assert listed.startswith("allowlist, line 3, example.org: js: always needs a browser")


def test_a_path_that_leads_nowhere_is_a_mistake_unless_nobody_wants_a_browser(tmp_path: Path) -> None:
    wrong = str(tmp_path / "chromium")
    assert problems(BrowserConfig(path=wrong)) == [
        f"BROWSER_PATH={wrong!r}: expected an executable program; check the path"
    ]
    assert problems(BrowserConfig(path=wrong, mode="never")) == []


def test_a_crawl_that_has_to_render_and_cannot_ends_before_its_first_request(tmp_path: Path) -> None:
    wrong = tmp_path / "chromium"
    found = scrapy("crawl", "corpus", "-a", "url=http://127.0.0.1:9/", settings={
        "JS_MODE": "always", "BROWSER_PATH": wrong, "CORPUS_DIR": tmp_path / "corpus", "PII_PERSON": "off",
    })  # fmt: skip
    assert found.returncode == 1
    assert f"BROWSER_PATH='{wrong}': expected an executable program" in found.stderr
    assert not (tmp_path / "corpus").exists()
