"""Counts as people read them: `1 page`, `2,000 pages`."""

from __future__ import annotations


def number_of(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun. nouns: the plural, where it is not the noun and an s."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"
