"""A test that fails only beside others does not fail the run, and is named; every other failure does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import PROJECT
from tests.support.process import clean_environment

LUCK = """
from pathlib import Path
def test_lucky():
    seen = Path(__file__).with_name("seen")
    before = seen.exists()
    seen.touch()
    assert before
"""


def run(folder: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(code)
    command = [sys.executable, str(PROJECT / "scripts" / "run_tests.py"), "-q", *words]
    only = clean_environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTEST_ADDOPTS="-p xdist.plugin")
    return subprocess.run(command, cwd=folder, env=only, capture_output=True, text=True, timeout=180, check=False)


@pytest.mark.parametrize("words", [(), ("-n", "2")])
def test_what_passes_alone_is_named_and_does_not_fail_the_run(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(tmp_path, LUCK + "def test_good(): pass\n", *words)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("passed only alone (each a fault to look into):\n  test_it.py::test_lucky\n")
    assert "1 failed, 1 passed" in done.stdout, "the first run is shown"


@pytest.mark.parametrize(
    ("code", "exitcode", "runs"),
    [
        (LUCK + "def test_bad(): assert 0\n", 1, 2),
        ("def test_bad(): assert 0\n", 1, 2),
        ("import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_bad(n): assert 0\n", 1, 1),
        ("import nothing_of_this_name\n", 2, 1),
        ("", 5, 1),
        ("def test_good(): pass\n", 0, 1),
    ],
)
def test_every_other_failure_fails_the_run(tmp_path: Path, code: str, exitcode: int, runs: int) -> None:
    done = run(tmp_path, code)
    assert (done.returncode, 1 + done.stdout.count("beside others; alone:")) == (exitcode, runs)
    assert "passed only alone" not in done.stdout


def test_a_failure_of_an_earlier_run_is_not_run_again(tmp_path: Path) -> None:
    run(tmp_path, "def test_bad(): assert 0\n")
    done = run(tmp_path, LUCK)
    assert (done.returncode, "test_bad" in done.stdout) == (0, False)
