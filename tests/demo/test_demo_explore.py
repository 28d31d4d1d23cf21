"""The demo ends with the command that opens what it has made."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from demo.run import to_explore
from tests.support.places import PROJECT
from tests.support.process import clean_environment


def test_the_command_works_where_the_demo_was_called(monkeypatch) -> None:
    monkeypatch.chdir(PROJECT)
    words = shlex.split(to_explore(PROJECT / "demo-corpus"))
    assert words[1:] == ["explore", "demo-corpus"]
    assert not Path(words[0]).is_absolute()
    command = [words[0], "explore", "--no-open", "no-such-corpus"]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "no-such-corpus" in done.stderr
