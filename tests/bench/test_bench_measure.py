"""What a measured command is charged for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.speed.measure import working_in


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="reads /proc")
def test_a_process_belongs_to_the_folder_it_works_in_wherever_it_was_started_from(tmp_path):
    (tmp_path / "corpus" / "frontier").mkdir(parents=True)
    (tmp_path / "corpus-of-others").mkdir()
    waits = [sys.executable, "-c", "input()"]
    for place, counted in (("corpus/frontier", True), ("corpus", True), ("corpus-of-others", False)):
        with subprocess.Popen(waits, cwd=tmp_path / place, stdin=subprocess.PIPE, start_new_session=True) as process:
            assert (process.pid in working_in(tmp_path / "corpus")) is counted
            process.communicate(b"\n")
