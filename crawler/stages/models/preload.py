"""A fork server imports modules and calls nothing: a stage's `preload` module says here what its processes share.

Where something cannot be loaded, the fork server goes on: each process finds the same and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress


def preload(*loads: Callable[[], object]) -> None:
    """Load each for all processes that are forked from this one."""
    for load in loads:
        with suppress(Exception):
            load()
