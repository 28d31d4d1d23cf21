"""The shingles of a text as strings, so that their overlap is known without any fingerprint."""

from __future__ import annotations


def shingles(units: list[str], joiner: str, size: int) -> set[str]:
    """The distinct runs of `size` units; a shorter text is one run."""
    return {joiner.join(units[i : i + size]) for i in range(max(1, len(units) - size + 1))} if units else set()
