"""Counts as people read them, `1 page`, `2,000 pages`, and numbers as settings take them."""

from __future__ import annotations


def number_of(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun. nouns: the plural, where it is not the noun and an s."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def written(value: float) -> str:
    """A number as a setting takes it, with every digit that counts: `1234567`, `0.3`."""
    if value == int(value):
        return str(int(value))
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
