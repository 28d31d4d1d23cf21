"""In a container without privileges: Chromium draws for a user other than root, without any capability."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import drawn, prose
from tests.support.corpus_crawl import SETTINGS, CorpusCrawl
from tests.support.loopback_web import PolicyWeb
from tests.support.places import PROJECT
from tests.support.process import clean_environment, options

IMAGE_USER = 10001
CHECK = f"import sys; assert sys.version_info == {tuple(sys.version_info)}; import scrapy, crawler"


def as_user(number: int) -> list[str]:
    """Python for this user, without any capability and without a way to get one."""
    who = [f"--reuid={number}", f"--regid={number}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    return ["setpriv", *who, "--no-new-privs", sys.executable]


@pytest.fixture(scope="module")
def user() -> int:
    """The image's user; where only root may read Python root's number, which without capabilities is nobody special."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user, and needs setpriv of util-linux")
    command = [*as_user(IMAGE_USER), "-c", CHECK]
    able = subprocess.run(command, cwd=PROJECT, env=clean_environment(), capture_output=True, check=False)
    return 0 if able.returncode else IMAGE_USER


@pytest.fixture
def home(user: int) -> Iterator[Path]:
    """A folder that this user reaches and owns; those of pytest are root's alone."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, user, user)
        yield Path(folder)


def test_a_crawl_without_any_privilege_draws_its_pages(user: int, home: Path, web: PolicyWeb) -> None:
    here = web.site("127.0.0.2", {"/drawn": drawn(prose("lighthouse"))})
    settings = SETTINGS | {"CORPUS_DIR": home / "corpus", "NETWORK_PORTS": web.port, "JS_MODE": "auto"}
    done = subprocess.run(
        [*as_user(user), "-m", "scrapy", "crawl", "corpus", "-a", f"url={here}/drawn", *options(settings)],
        cwd=PROJECT,
        env=clean_environment(HOME=str(home), TMPDIR=str(home)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (record,) = CorpusCrawl(home / "corpus", done.stderr, 0).kept.values()
    assert record["method_used"] == "js"
    assert "the keeper of the lighthouse" in record["text"]
    made = [path for path in home.rglob("*") if not path.is_symlink()]
    assert {path.stat().st_uid for path in made} == {user}


def test_that_user_has_no_capability_and_gets_none(user: int, home: Path) -> None:
    command = [*as_user(user), "-c", "print(open('/proc/self/status').read())"]
    said = subprocess.run(command, cwd=home, capture_output=True, text=True, check=True).stdout
    state = dict(line.split(":\t", 1) for line in said.splitlines() if ":\t" in line)
    assert {int(state[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd")} == {0}
    assert (state["NoNewPrivs"], state["Uid"].split()[0]) == ("1", str(user))
