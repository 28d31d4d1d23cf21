"""The text of declarative shadow roots takes the place in which a browser shows it, before any extractor reads it.

`<template shadowrootmode>` is the one template whose content is on the page: its host shows it instead of its own
children, which stand where its slots are (HTML standard, sections 4.12.3 and 4.12.4; DOM standard, section 4.2.2).
"""

from __future__ import annotations

from itertools import groupby, islice
from typing import Any

from crawler.stages.text.shadow_root import is_shadow_root

MOST_ROOTS = 5_000
"""Templates of a page that are looked at."""

_Piece = Any
"""A text, or an element without what follows it."""


def open_shadows(tree: Any) -> None:
    """Put every declarative shadow root into its host, in place."""
    roots: dict[Any, Any] = {}  # of each host the first
    for template in islice(tree.iter("template"), MOST_ROOTS):
        if is_shadow_root(template):
            roots.setdefault(template.getparent(), template)
    for host, template in reversed(roots.items()):  # those within others first
        _show(host, template)


def _show(host: Any, template: Any) -> None:
    given: dict[str, list[_Piece]] = {}
    for piece in _emptied(host):
        if piece is not template:
            name = "" if isinstance(piece, str) else piece.get("slot") or ""
            given.setdefault(name, []).append(piece)
    _fill(host, [template])
    slots = list(template.iter("slot"))
    for slot in slots:
        pieces = given.pop(slot.get("name") or "", [])
        if any(not isinstance(piece, str) or piece.strip() for piece in pieces):
            _emptied(slot)
            _fill(slot, pieces)
    gone = frozenset(slots)
    for around in reversed(dict.fromkeys(slot.getparent() for slot in slots)):  # those within other slots first
        _without(around, gone)
    _without(host, frozenset({template}))


def _without(around: Any, gone: frozenset[Any]) -> None:
    """Put what some children hold in their place: all in one pass, for a parent may have thousands of them."""
    if around is None:
        return  # a slot whose own content was replaced
    pieces: list[_Piece] = []
    for piece in _emptied(around):
        if isinstance(piece, str) or piece not in gone:
            pieces.append(piece)
        else:
            pieces.extend(_emptied(piece))
    _fill(around, pieces)


def _emptied(element: Any) -> list[_Piece]:
    """What an element held, in its order; it holds nothing any more."""
    pieces: list[_Piece] = [element.text] if element.text else []
    element.text = None
    for child in list(element):
        tail, child.tail = child.tail, None
        element.remove(child)
        pieces.extend([child, tail] if tail else [child])
    return pieces


def _fill(element: Any, pieces: list[_Piece]) -> None:
    last = None
    for is_text, run in groupby(pieces, key=lambda piece: isinstance(piece, str)):
        if not is_text:
            for last in run:
                element.append(last)
        elif last is None:
            element.text = (element.text or "") + "".join(run)
        else:
            last.tail = (last.tail or "") + "".join(run)
