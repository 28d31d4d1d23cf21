"""Playwright's driver: does it run here, and what is said where it does not?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from crawler.browser import driver
from crawler.browser.find import problems
from crawler.config.browser import BrowserConfig
from tests.browser.conftest import crawl, drawn, page, prose
from tests.support.loopback_web import PolicyWeb
from tests.support.places import PROJECT
from tests.support.process import scrapy

SAYS = "error while loading shared libraries: libatomic.so.1: cannot open shared object file"
OF_THE_BASE_IMAGE = {"linux-vdso", "libdl", "libm", "libpthread", "libc", "ld-linux", "libgcc_s", "libstdc++"}
"""Of libc6, libgcc-s1 and libstdc++6, which Chromium needs, too."""


def broken(folder: Path) -> Path:
    """A Node.js on a machine without the library."""
    folder.mkdir()
    program = folder / "node"
    program.write_text(f"#!/bin/sh\necho {program}: {SAYS} >&2\nexit 127\n")
    program.chmod(0o755)
    return program


def test_the_driver_of_this_machine_runs() -> None:
    assert driver.driver_fault() == ""


def test_playwright_starts_the_program_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    program, script = compute_driver_executable()
    assert os.access(program, os.X_OK)
    assert Path(script).is_file()
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", "/somewhere/node")
    assert compute_driver_executable()[0] == "/somewhere/node"


def test_a_driver_that_does_not_run_is_told_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = broken(tmp_path / "bin")
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(program))
    assert driver.driver_fault() == f"{program} does not run ({SAYS})"
    program.write_text("#!/bin/sh\nexit 3\n")
    assert driver.driver_fault() == f"{program} does not run (exit code 3)"
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(tmp_path / "nothing"))
    assert driver.driver_fault() == (
        f"{tmp_path / 'nothing'} does not run ([Errno 2] No such file or directory: '{tmp_path / 'nothing'}')"
    )


def test_who_needs_a_browser_is_told_before_the_first_request_that_the_driver_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = broken(tmp_path / "bin")
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(program))
    assert problems(BrowserConfig(mode="auto")) == []
    (said,) = problems(BrowserConfig(mode="always"))
    assert said == f"JS_MODE=always needs a browser, and {program} does not run ({SAYS}): {driver.HOW_TO}"
    settings = {"JS_MODE": "always", "CORPUS_DIR": tmp_path / "corpus", "PII_PERSON": "off"}
    found = scrapy("crawl", "corpus", "-a", "url=http://127.0.0.1:9/", settings=settings)
    assert found.returncode == 1
    assert f"{program} does not run" in found.stderr


def test_a_crawl_goes_on_without_a_driver_and_says_once_what_to_install(tmp_path: Path, web: PolicyWeb) -> None:
    program = broken(tmp_path / "bin")
    routes = {f"/{n}": drawn(prose(topic)) for n, topic in enumerate(("mill", "well"))}
    routes["/2"] = page(f"<main><p>{prose('barn')}</p></main>")
    here = web.site("127.0.0.2", routes)
    seeds = [f"{here}/{n}" for n in range(3)]
    done = crawl(tmp_path / "corpus", web, seeds, environment={"PLAYWRIGHT_NODEJS_PATH": str(program)})
    assert done.returncode == 0, done.log[-3000:]
    assert list(done.kept) == [f"{here}/2"]
    told = f"{program} does not run ({SAYS}); pages are read without a browser: {driver.HOW_TO}"
    assert done.log.count(told) == 1
    assert "Traceback" not in done.log


def test_every_library_that_the_driver_needs_is_in_the_image() -> None:
    if shutil.which("ldd") is None:
        pytest.skip("no ldd: not Linux")
    needed = subprocess.run(["ldd", compute_driver_executable()[0]], capture_output=True, text=True, check=True).stdout
    names = {Path(line.split()[0]).name.partition(".so")[0] for line in needed.splitlines()}
    more = {re.sub(r"-x86-64$|-aarch64$", "", name) for name in names} - OF_THE_BASE_IMAGE
    assert more <= {"libatomic"}
    stage = (PROJECT / "Dockerfile").read_text().split("FROM runtime AS browser")[1].split("FROM ")[0]
    (packages,) = re.findall(r"apt-get install \S+ \S+ --no-install-recommends (.*) \\", stage)
    assert {f"{name}1" for name in more} <= set(packages.split())
