"""Numbers as people read them, `1 page`, `2,000 pages`, `1.4 MB`, `2 h 05 min`, and as settings take them."""

from __future__ import annotations


def number_of(count: int, noun: str, nouns: str = "") -> str:
    """A count with its noun. nouns: the plural, where it is not the noun and an s."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def are(count: int) -> str:
    """The verb behind a count."""
    return "is" if count == 1 else "are"


def written(value: float) -> str:
    """A number as a setting takes it, with every digit that counts: `1234567`, `0.3`."""
    if value == int(value):
        return str(int(value))
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def size(count: float) -> str:
    """Bytes in the unit people read, such as 1.4 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def duration(seconds: float) -> str:
    """Seconds as people say them, such as 2 h 05 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60:,} h {minutes % 60:02d} min"
