"""The fuzzer of the native kernel runs, under sanitizers that notice what it looks for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.native.native_support import built
from tests.support.places import PROJECT
from tests.support.process import clean_environment

pytestmark = [built, pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")]


def test_two_seconds_of_pages_that_lxml_never_writes_find_nothing():
    command = [sys.executable, "-m", "bench.native.fuzz", "--seconds", "2"]
    done = subprocess.run(
        command, cwd=PROJECT, env=clean_environment(), timeout=300, capture_output=True, text=True, check=False
    )
    if "cannot find -lasan" in done.stderr:
        pytest.skip("gcc has no AddressSanitizer here")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.endswith(": no finding\n")


READS_BEHIND = """
import ctypes, sys
import numpy as np
library, libc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)
library.native_minhash.restype, libc.malloc.restype = ctypes.c_int64, ctypes.c_void_p
room = np.zeros(8, np.uint32)
at = ctypes.c_void_p(room.ctypes.data)
library.native_minhash(ctypes.c_void_p(libc.malloc(32)), ctypes.c_int64(400), ctypes.c_int64(2), at, at, 8, at)
print("not noticed")
"""


def test_a_read_behind_the_end_of_what_was_given_is_noticed(tmp_path: Path):
    library = tmp_path / "kernel.so"
    command = [sys.executable, "-m", "bench.native.build", "--sanitized", str(library)]
    made = subprocess.run(command, cwd=PROJECT, env=clean_environment(), capture_output=True, text=True, check=False)
    asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    if "cannot find -lasan" in made.stderr:
        pytest.skip("gcc has no AddressSanitizer here")
    assert made.returncode == 0, made.stderr[-2000:]
    environment = clean_environment(LD_PRELOAD=asan.stdout.strip(), ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run(
        [sys.executable, "-c", READS_BEHIND, str(library)],
        cwd=PROJECT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr
    assert "not noticed" not in done.stdout
