"""Running heads and page numbers: lines that stand at one height of many pages and say the same, numbers aside."""

from __future__ import annotations

import re
from collections import defaultdict

from crawler.stages.documents.line import Line

_EDGE = 3
"""Lines from the top and from the bottom of a page among which one is looked for."""
_MARGIN = 0.14
"""Of the page's height: the strips at its top and bottom that have one."""
_PAGES = 3
"""Pages on which a line stands at least; numbers need two."""
_BAND = 4.0
"""Points within which two heights are the same."""
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlcdm]{1,8}", re.IGNORECASE)
_FOLIO = re.compile(r"(?<=\s)[ivxlc]{1,8}$|^[ivxlc]{1,8}(?=\s)")
"""The number of a page of the preface beside the running head."""
_ALONE = re.compile(r"[\W_]*(?:#|page|seite|p\.|s\.|of|von|/|\s)*#(?:[\W_]|#|of|von|de|sur|di)*", re.IGNORECASE)
"""A line of page numbers alone."""


def without_heads(pages: list[list[Line]]) -> tuple[list[list[Line]], int]:
    """The pages without what is repeated on them, and how many lines that were.

    The first of a repeated text stays where it stands on the first page: it may be the title.
    """
    places: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page in pages:
        for line in _edges(page):
            for key in _keys(line):
                places[key].add(line.page)
    seen: set[str] = set()
    kept, gone = [], 0
    for page in pages:
        edge = {id(line) for line in _edges(page)}
        stays = []
        for line in page:
            if id(line) in edge and _is_repeated(line, places):
                gone += 1
                if not _is_first(line, seen):
                    continue
                gone -= 1
            stays.append(line)
        kept.append(stays)
    return kept, gone


def _edges(page: list[Line]) -> list[Line]:
    ordered = sorted((line for line in page if not _MARGIN < line.at < 1 - _MARGIN), key=lambda line: line.y)
    return ordered if len(ordered) <= 2 * _EDGE else [*ordered[:_EDGE], *ordered[-_EDGE:]]


def _keys(line: Line) -> list[tuple[str, int]]:
    """Both bands that a height may lie in."""
    masked = _masked(line.text)
    return [(masked, round(line.y / _BAND)), (masked, -1 - round(line.y / _BAND + 0.5))]


def _masked(text: str) -> str:
    return "#" if _ROMAN.fullmatch(text) else _NUMBER.sub("#", _FOLIO.sub("#", text).casefold())


def _is_repeated(line: Line, places: dict[tuple[str, int], set[int]]) -> bool:
    count = max(len(places[key]) for key in _keys(line))
    return count >= _PAGES or (count >= 2 and _is_number(line.text))


def _is_number(text: str) -> bool:
    return _ALONE.fullmatch(_masked(text)) is not None


def _is_first(line: Line, seen: set[str]) -> bool:
    """True for a repeated line with words on the first page."""
    masked = _masked(line.text)
    if line.page or _is_number(line.text) or masked in seen:
        return False
    seen.add(masked)
    return True
