"""The items of ordered lists get the numbers that a browser shows, before any extractor reads the tree.

Steps, clauses and notes are referred to by their numbers, which stand in no text of the page: HTML counts them
(`start`, `reversed`, `type`, `value`; HTML standard, sections 4.4.5 and 4.4.8). The number is noted on the item itself,
as what trafilatura hands down (`rend`); whoever writes the item reads it there (`number_in`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import Any

NUMBER = "rend"
"""The attribute of an item that has its number."""
MOST_ITEMS = 20_000
"""Items of a page that are numbered, as many as it may have blocks."""
LARGEST = 99_999
"""Numbers that are written; what is larger is somebody's key."""
MOST_PIECES, LONGEST = 20, 200
"""Of an item's text, and characters of it, in which its own number is looked for."""
_SIGN = "#"
_LISTS = ("ol", "ul", "menu")
_SET_APART = re.compile(
    r"comment|respon[ds]e|repl(?:y|ies)|thread|breadcrumb|pagination|pager|carousel|slide|gallery|product|result|posts"
    r"|unstyled|list-none|no-?bullets?|\bnav|-nav\b|menu|tab(?:s|list)\b|ql-indent",
    re.IGNORECASE,
)
"""In the names of a list or an item: such lists are ordered, but their reader sees no numbers."""
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([^;]*)", re.IGNORECASE)
_OWN = re.compile(r"\s*(?:[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxlcIVXLC]{2,5})[.)\]:]|§|\d{1,3}(?:\.\d{1,3})+)(?=\s)")
"""A number that the item's text begins with."""
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")),
    *((9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def number_items(tree: Any) -> None:
    """Note on every item of an ordered list what stands before it in a browser: "3.", "c.", "IV."."""
    if next(tree.iter("ol"), None) is None:
        return
    owned = [(item, owner) for item in _first_items(tree) if (owner := _owner(item)) is not None]
    sizes = Counter(owner for _, owner in owned)
    counts: dict[Any, int] = {}
    for item, owner in owned:
        step = -1 if owner.get("reversed") is not None else 1
        if owner not in counts:
            counts[owner] = _whole(owner.get("start"), sizes[owner] if step < 0 else 1) - step
        counts[owner] = number = _whole(item.get("value"), counts[owner] + step)
        if (style := _style(item, owner)) is not None and not _numbers_itself(item):
            item.set(NUMBER, f"{_SIGN}{style(number)}.")


def number_in(noted: str | None) -> str:
    """The number in what is noted on an item, such as "3."; "" where there is none."""
    return noted[1:] if noted and noted[0] == _SIGN and len(noted) > 1 else ""


def _first_items(tree: Any) -> list[Any]:
    found: list[Any] = []
    for item in tree.iter("li"):
        if item.get(NUMBER) is not None:
            del item.attrib[NUMBER]  # whatever it means to the page
        if len(found) < MOST_ITEMS:
            found.append(item)
    return found


def _owner(item: Any) -> Any:
    """The list that counts an item; None where that is no ordered one."""
    around = item.getparent()
    if around is None or around.tag not in _LISTS:
        around = next(item.iterancestors(*_LISTS), None)
    return around if around is not None and around.tag == "ol" else None


def _whole(text: str | None, otherwise: int) -> int:
    try:
        number = int(text or "")
    except ValueError:
        return otherwise
    return number if abs(number) <= LARGEST else otherwise


def _style(item: Any, owner: Any) -> Callable[[int], str] | None:
    """How the numbers of a list are written; None where its reader sees none."""
    for one in (item, owner):
        names = f"{one.get('class') or ''} {one.get('id') or ''}"
        if _SET_APART.search(names) or one.get("data-list") == "bullet":
            return None
        if said := _LIST_STYLE.search(one.get("style") or ""):
            words = said[1].lower().split()
            return next((_STYLES[word] for word in words if word in _STYLES), None)
    return _TYPES.get(item.get("type") or owner.get("type") or "1", str)


def _numbers_itself(item: Any) -> bool:
    """True for an item whose text begins with a number of its own."""
    begins = "".join(islice(item.itertext(), MOST_PIECES))[:LONGEST]
    return _OWN.match(f"{begins.strip()} ") is not None


def _letters(number: int) -> str:
    """a to z, then aa, ab; plain digits for what has no letters."""
    if number < 1:
        return str(number)
    written = ""
    while number:
        number, rest = divmod(number - 1, 26)
        written = chr(ord("a") + rest) + written
    return written


def _roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    written = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        written += sign * times
    return written


def _capital(style: Callable[[int], str]) -> Callable[[int], str]:
    return lambda number: style(number).upper()


_TYPES: dict[str, Callable[[int], str]] = {
    "1": str,
    "a": _letters,
    "A": _capital(_letters),
    "i": _roman,
    "I": _capital(_roman),
}
_STYLES: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimal-leading-zero": lambda number: f"{number:02}",
    "lower-alpha": _letters,
    "lower-latin": _letters,
    "upper-alpha": _capital(_letters),
    "upper-latin": _capital(_letters),
    "lower-roman": _roman,
    "upper-roman": _capital(_roman),
}
"""By the value of `list-style-type` (CSS Counter Styles 3); what is not here shows no number, or a sign."""
