"""Pieces on one baseline become one line, in the order of reading: from the right where the script is so."""

from __future__ import annotations

import re

from crawler.stages.documents.line import Line

_SAME = 0.25
"""Of the size of the letters: two heights that are one baseline."""
_NEAR = 3.0
"""Likewise: the widest room between two pieces of one line; beyond it are columns."""
_SPACE = 0.15
"""Likewise: the least room that is a space."""
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def is_rtl(text: str) -> bool:
    """True where most letters are of a script that is written from the right."""
    return 2 * len(_RTL.findall(text)) > sum(map(str.isalpha, text))


def rows_of(pieces: list[Line]) -> list[Line]:
    """The lines of one page."""
    rows: list[list[Line]] = []
    for piece in pieces:
        if rows and _is_beside(rows[-1], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [_joined(row) if len(row) > 1 else row[0] for row in rows]


def _is_beside(row: list[Line], piece: Line) -> bool:
    last = row[-1]
    if last.broken or abs(last.y - piece.y) > _SAME * last.size:
        return False
    if _RTL.search(piece.text) or any(_RTL.search(one.text) for one in row):
        apart = min(max(piece.x0 - one.x1, one.x0 - piece.x1) for one in row)
        return apart < _NEAR * last.size
    return -1 <= piece.x0 - last.x1 < _NEAR * last.size


def _joined(row: list[Line]) -> Line:
    order = sorted(row, key=lambda piece: piece.x0)
    if is_rtl("".join(piece.text for piece in row)):
        order = _from_the_right(order)
    text, last = order[0].text, order[0]
    for piece in order[1:]:
        room = max(piece.x0 - last.x1, last.x0 - piece.x1)
        text += (" " if room > _SPACE * last.size else "") + piece.text
        last = piece
    return Line(
        text,
        min(piece.x0 for piece in row),
        max(piece.x1 for piece in row),
        row[0].y,
        max(piece.size for piece in row),
        all(piece.bold for piece in row),
        row[-1].broken,
        row[0].page,
        row[0].at,
        all(piece.mono for piece in row),
    )


def _from_the_right(order: list[Line]) -> list[Line]:
    """Numbers and words of other scripts keep their own order among themselves."""
    found: list[Line] = []
    run: list[Line] = []
    for piece in reversed(order):
        if any(map(str.isalnum, piece.text)) and not _RTL.search(piece.text):
            run.insert(0, piece)
            continue
        found += run
        run = []
        found.append(piece)
    return found + run
