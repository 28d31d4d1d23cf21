"""How many cores a process may use, in a container and outside."""

import os
import subprocess
import sys

import pytest

from crawler.pool.cores import usable_cores
from tests.support.places import PROJECT


def test_the_limit_of_a_container_counts_and_no_limit_is_none(tmp_path):
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limit = tmp_path / "cpu.max"
    assert usable_cores(limit) == mine
    for text, cores in [("max 100000\n", mine), ("100000 100000\n", 1), ("50000 100000\n", 1), ("rubbish", mine)]:
        limit.write_text(text)
        assert usable_cores(limit) == cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_as_many_stage_processes_start_as_cores_may_be_used():
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from crawler.config import from_mapping; from crawler.pool.pool import StagePool;"
        "print(StagePool(from_mapping({})).workers, StagePool(from_mapping({'STAGE_WORKERS': 3})).workers)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "3"]
