"""A command forked from a process that has imported everything is, to whoever starts it, a process like any other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support import warm
from tests.support.process import clean_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands are warm on Linux alone")


@pytest.fixture(autouse=True)
def wanted(monkeypatch):
    """Whoever runs the suite may have said that commands are to start cold."""
    monkeypatch.delenv("WARM", raising=False)


FOUND = """
import json, os, sys
own = [os.getcwd(), os.environ.get("OWN"), os.environ.get("PYTEST_CURRENT_TEST"), sys.argv[1:], sys.path[0]]
streams = [sys.stdin.read(), sys.stdout.encoding, sys.stderr.errors, sys.stdout.seekable(), sys.stdout.isatty()]
print(json.dumps([os.getpid(), os.getsid(0) == os.getpid(), "tests.support.warm_server" in sys.modules, own, streams]))
print("told", file=sys.stderr)
sys.exit(3)
"""
WAITS = "import time\nprint('here', flush=True)\ntime.sleep(300)\n"


def command(folder: Path, code: str, **more: str) -> tuple[list[str], dict[str, str]]:
    """A `scrapy` command whose settings are this code, and its environment."""
    (folder / "own.py").write_text(code)
    return [sys.executable, "-m", "scrapy", "settings"], clean_environment(SCRAPY_SETTINGS_MODULE="own", **more)


def outcome(folder: Path, session: bool = False, **more: str) -> tuple[bool, list[Any]]:
    """Whether the command was warm, and all that it and its caller see of it."""
    words, env = command(folder, FOUND, OWN="ä", **more)
    pipe = subprocess.PIPE
    process = warm.Popen(
        [*words, "--get=ö"], cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True,
        start_new_session=session,
    )  # fmt: skip
    out, err = process.communicate("typed", timeout=60)
    pid, leads, was_warm, *rest = json.loads(out)
    assert pid == process.pid
    return was_warm, [leads, *rest, err, process.returncode]


@pytest.mark.parametrize("session", [False, True])
def test_a_warm_command_sees_and_answers_what_a_cold_one_does(tmp_path, monkeypatch, session):
    warm_one = outcome(tmp_path, session)
    monkeypatch.setenv("WARM", "0")
    cold_one = outcome(tmp_path, session)
    assert warm_one[0] and not cold_one[0]
    assert warm_one[1] == cold_one[1]
    assert cold_one[1][0] is session and cold_one[1][-2:] == ["told\n", 3]


def test_what_python_reads_when_it_starts_makes_a_command_cold(tmp_path):
    assert outcome(tmp_path)[0]
    assert not outcome(tmp_path, PYTHONHASHSEED="1")[0]
    assert not outcome(tmp_path, LC_ALL="C.UTF-8")[0]
    assert not outcome(tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{clean_environment()['PYTHONPATH']}")[0]


def test_what_a_pool_of_the_test_process_leaves_in_the_environment_is_the_same_to_a_warm_command(tmp_path):
    assert outcome(tmp_path, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")[0]
    assert not outcome(tmp_path, OMP_NUM_THREADS="2")[0]


def test_a_folder_with_a_crawler_of_its_own_makes_a_command_cold(tmp_path):
    (tmp_path / "crawler").mkdir()
    assert not outcome(tmp_path)[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_a_warm_command_and_its_caller_learns_which(tmp_path, number):
    words, env = command(tmp_path, WAITS)
    process = warm.Popen(
        words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == "here\n"
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    (helper,) = psutil.Process(process.pid).children()
    process.send_signal(number)
    assert process.wait(60) == -number
    assert process.poll() == -number
    process.communicate()
    psutil.wait_procs([helper], timeout=60)
    assert not helper.is_running()


def test_an_error_that_nobody_catches_is_shown_and_the_exit_code_is_one(tmp_path):
    words, env = command(tmp_path, "raise ValueError('nobody catches this')")
    done = warm.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: nobody catches this\n")


def test_two_warm_commands_run_at_once_and_each_has_its_own_end(tmp_path):
    started = []
    for code in (4, 5):
        (tmp_path / str(code)).mkdir()
        words, env = command(tmp_path / str(code), f"import sys\nsys.stdin.read()\nsys.exit({code})")
        started.append(warm.Popen(words, cwd=tmp_path / str(code), env=env, stdin=subprocess.PIPE))
    for process in reversed(started):
        process.communicate(timeout=60)
    assert [process.returncode for process in started] == [4, 5]
