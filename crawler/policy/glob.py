"""Path patterns with `*` (RFC 9309 section 2.2.3), for robots.txt and the allowlist: one matcher, in linear time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import AnyStr


def glob_matches(pieces: Sequence[AnyStr], text: AnyStr, *, anchored: bool) -> bool:
    """True where the literal pieces, which a `*` stands between, follow each other from the start of the text.

    anchored: the last piece has to end where the text ends (a final `$`). Each piece is placed as far left as it goes:
    a star takes whatever is left, so that is enough and never backtracks.
    """
    first, rest = pieces[0], pieces[1:]
    if not text.startswith(first):
        return False
    at = len(first)
    if not rest:
        return at == len(text) or not anchored
    last = rest[-1] if anchored else text[:0]
    for piece in rest[:-1] if anchored else rest:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return text.endswith(last) and len(text) - len(last) >= at
