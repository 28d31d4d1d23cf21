"""The wheel alone holds the product: installed in an empty environment elsewhere, it crawls, reports, shows, exports.

Only other people's packages come from the environment that runs the tests; the checkout is on no path.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile

import pytest

from tests.support.once import made_once
from tests.support.places import PROJECT
from tests.support.site import Site

LIMIT = 300  # seconds, on the slowest machine
SETUPTOOLS = (77, 0)
"""What pyproject.toml asks for."""
BUILD = "from setuptools import build_meta as b; b.build_wheel('../dist'); b.build_sdist('../dist')"


def sources() -> list[str]:
    """What a checkout holds, without what git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=PROJECT, capture_output=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.decode().split("\0") if name and (PROJECT / name).is_file()]


def builder(folder: Path) -> str:
    """A Python whose setuptools can build; skips the test where there is none and the registry is out of reach."""
    if tuple(map(int, version("setuptools").split(".")[:2])) >= SETUPTOOLS:
        return sys.executable
    subprocess.run([sys.executable, "-m", "venv", str(folder / "builder")], check=True)
    python = str(folder / "builder" / "bin" / "python")
    wanted = f"setuptools>={SETUPTOOLS[0]}"
    if subprocess.run([python, "-m", "pip", "install", "-q", wanted], capture_output=True, check=False).returncode:
        pytest.skip(f"{wanted} is not installed (make test installs it)")
    return python


def make(folder: Path) -> Path:
    """`folder/dist` with wheel and sdist, and `folder/env` with the wheel installed."""
    for name in sources():
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        copyfile(PROJECT / name, folder / "source" / name)
    (folder / "dist").mkdir()
    run([builder(folder), "-c", BUILD], folder / "source")
    run([sys.executable, "-m", "venv", "env"], folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    run([str(folder / "env/bin/python"), "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel)], folder)
    theirs = folder / "env" / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    (theirs / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """To its end, which has to be good; without a variable that leads to the checkout."""
    done = subprocess.run(
        command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:] + done.stdout[-4000:]
    return done


def environment() -> dict[str, str]:
    led = ("PYTHON", "CRAWLER_", "SCRAPY_", "REDIS_URL", "CORPUS_DIR", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(led)}


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "wheel", make)


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site(pages=6)
    made.start()
    yield made
    made.stop()


def test_the_installed_wheel_crawls_reports_exports_and_shows_in_a_folder_elsewhere(
    installed: Path, site: Site, tmp_path: Path
) -> None:
    program = str(installed / "env/bin/gristmill")
    found = run([str(installed / "env/bin/python"), "-c", "import sys, crawler; print(crawler.__file__, sys.path)"],
                tmp_path).stdout  # fmt: skip
    assert found.startswith(str(installed / "env"))
    assert f"'{PROJECT}'" not in found
    quick = ["--delay", "0.02", "--stage-workers", "1", "-s", "FRONTIER_IDLE_SECONDS=0.5"]
    crawled = run([program, "crawl", site.url(0), "--out", "corpus", "--allow-local", *quick], tmp_path)
    assert "gristmill report" in crawled.stdout
    told = run([program, "report", "--html", "corpus"], tmp_path).stdout
    assert re.search(r"^6 kept +0 rejected$", told, re.MULTILINE), told
    assert "<table" in (tmp_path / "corpus" / "report.html").read_text("utf-8")
    run([program, "dataset", "export", "--to", "jsonl.gz", "--out", "release", "corpus"], tmp_path)
    assert list((tmp_path / "release").rglob("*.jsonl.gz"))
    assert json.loads((tmp_path / "corpus" / "manifest.json").read_text())["format"].startswith("crawler-corpus/")
    _looked_at(program, tmp_path)


def _looked_at(program: str, folder: Path) -> None:
    """One page of `explore`, and its end by Ctrl-C."""
    command = [program, "explore", "--no-open", "corpus"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        page = _answer(opener, address)
        assert "<title>" in page
        assert "explore.css" in page
        base = address.partition("/?")[0]
        for name in re.findall(r'(?:href|src)="(/[^"]*\.(?:css|js|svg))"', page):
            assert _answer(opener, base + name)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, out + err
    finally:
        process.kill()
        process.communicate()


def _answer(opener: urllib.request.OpenerDirector, address: str) -> str:
    """The page, once the catalogue is read: until then the answer is 503."""
    deadline = time.monotonic() + LIMIT
    while True:
        try:
            with opener.open(address, timeout=LIMIT) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            assert error.code == 503 and time.monotonic() < deadline, error
            time.sleep(0.2)


def test_the_demo_runs_from_the_wheel_and_every_page_ends_as_its_file_declares(installed: Path, tmp_path: Path) -> None:
    done = run([str(installed / "env/bin/gristmill"), "demo", "-s", "DOWNLOAD_DELAY=0.05"], tmp_path)
    assert "pages ended as their files in demo/sites/ declare" in done.stdout
    assert (tmp_path / "demo-corpus" / "manifest.json").exists()
    assert "gristmill demo --resume" in done.stdout


def test_the_sdist_holds_what_the_wheel_is_built_from_and_neither_tests_nor_benches(installed: Path) -> None:
    (file,) = (installed / "dist").glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {name for name in sources() if name.startswith(("crawler/", "demo/"))} - names == set()
    assert {name.partition("/")[0] for name in names} & {"tests", "bench", "docs", "k8s"} == set()
