"""The stages say the same twice: no hash order, no clock, no network, no warning has a part in it."""

from __future__ import annotations

import os
import subprocess
import sys

import orjson

from tests.support.places import PROJECT


def start(seed: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT), "TZ": f"UTC{seed}"}
    command = [sys.executable, "-W", "error", "-m", "tests.stages.twice"]
    return subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_processes_with_different_hash_seeds_write_the_same_bytes():
    first, second = start("1"), start("7")
    (one, one_errors), (two, two_errors) = first.communicate(timeout=300), second.communicate(timeout=300)
    assert (first.returncode, one_errors) == (0, b"")
    assert (second.returncode, two_errors) == (0, b"")
    assert one == two
    records = [orjson.loads(line) for line in one.splitlines()]
    assert len(records) > 60
    assert sum("reason" not in record for record in records) > 30
    assert not [record["url"] for record in records if record.get("reason") == "stage_error"]
