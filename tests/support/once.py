"""What is too dear to make in every test process: the first one makes it, the others read what it left."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], T]) -> T:
    """What `make` answers for a folder of this name, made once a session however many test processes there are."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = shared / f"{name}.pickle"
        if not made.exists():
            made.write_bytes(pickle.dumps(make(shared / name)))
        return pickle.loads(made.read_bytes())  # type: ignore[no-any-return]
