"""A fork server imports modules and calls nothing: a stage's `preload` module says here what its processes share.

Where something cannot be loaded, the fork server goes on: each process finds the same and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from crawler.config import Config

MANY = 3
"""Processes from which the fork server loads what a small crawl may never ask for, and they share it. Of one or two
each does so itself, when the first page asks: the second copy takes less than what nobody needed."""


def has_many(config: Config) -> bool:
    """True where a crawl has so many stage processes."""
    return config.crawl.stage_workers >= MANY


def preload(*loads: Callable[[], object]) -> None:
    """Load each for all processes that are forked from this one."""
    for load in loads:
        with suppress(Exception):
            load()
