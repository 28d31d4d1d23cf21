"""Where things lie: the project, its tests, and the public data that is not part of it."""

from __future__ import annotations

from bench.places import PROJECT, SHARED_DATA

__all__ = ["PROJECT", "SHARED_DATA", "TESTS", "WITHOUT_SHARED_DATA"]

TESTS = PROJECT / "tests"
WITHOUT_SHARED_DATA = f"public test data is absent: {SHARED_DATA} (set CRAWLER_SHARED_DATA)"
