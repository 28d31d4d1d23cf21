"""A sketch of a text: a few numbers by which pages that say the same recognise each other."""

from __future__ import annotations

import heapq

import xxhash

SIZE = 24
"""Numbers of a sketch. Of two texts that share half of what they say, about half are the same."""
CHARACTERS = 2_000
"""Of a text that are looked at, without white space and digits: a wall names the time and the request."""
_SHINGLE = 12
_LEFT_OUT = str.maketrans("", "", "0123456789")

Sketch = tuple[str, ...]


def sketch_of(text: str) -> Sketch:
    """The smallest hashes of its pieces of 12 characters, in any script; empty for a text without a letter."""
    start = "".join(text[: 2 * CHARACTERS].lower().translate(_LEFT_OUT).split())[:CHARACTERS]
    pieces = {start[n : n + _SHINGLE] for n in range(max(1, len(start) - _SHINGLE + 1))} if start else set()
    return tuple(
        f"{n:08x}"
        for n in heapq.nsmallest(
            SIZE, {xxhash.xxh32_intdigest(piece.encode("utf-8", "surrogatepass")) for piece in pieces}
        )
    )
