"""Cells that say something with a picture get its words or its sign, before any extractor reads the tree.

A table that compares things says yes and no with icons: without them its values are gone, and the table is empty. What
counts is what the page says of the picture itself (`alt`, `aria-label`, `title`, a title within <svg>), then the names
by which icon fonts call their check marks, then whether a box is checked
that nobody can check.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

LONGEST = 40
"""Characters of what a picture says in a cell."""
MOST_CELLS = 5_000
"""Cells without text that are looked at."""
MAX_SPAN = 100
"""Columns or rows that one cell can take."""
YES, NO, ON, OFF = "✓", "✗", "☑", "☐"
_NO_TEXT = " \t\r\n\f\xa0\u200b"
_FONTS = (
    r"fa|bi|mdi|glyphicon|dashicons|octicon|feather|lucide|ri|ti|ph|icon|ion|el-icon|anticon|bx|las?|pi|uil|codicon"
)
_SHAPE = r"(?:circle-|square-|outline-|solid-|md-|ios-|s-)?"
_END = r"(?:-(?:circle|square|lg|line|fill|thick|bold|outline|alt\d?|mark|sign|o))*(?=\s|$)"
_YES = re.compile(rf"(?:^|\s)(?:{_FONTS})-{_SHAPE}(?:check|ok|yes|tick|checkmark|check2|done){_END}", re.IGNORECASE)
_NO = re.compile(rf"(?:^|\s)(?:{_FONTS})-{_SHAPE}(?:xmark|x|times|close|remove|no|cross|ban){_END}", re.IGNORECASE)
_WORDS = {
    **dict.fromkeys(("check", "done", "check_circle", "check_box", "task_alt"), YES),
    **dict.fromkeys(("close", "clear", "cancel", "remove", "do_not_disturb"), NO),
}
"""Material's icons are written as words that its font draws as one sign."""


def write_signs(tree: Any) -> None:
    """Put what its picture says into every cell that has no text, in place."""
    headed: dict[Any, bool] = {}
    for cell in islice((cell for cell in tree.iter("td", "th") if len(cell)), MOST_CELLS):
        if not _is_picture(cell):
            continue
        table = next(cell.iterancestors("table"), None)
        if table is None:
            continue
        if table not in headed:
            headed[table] = next(table.iter("th"), None) is not None
        if said := _said(cell, may_be_picture=headed[table]):
            cell.text = said


def _is_picture(cell: Any) -> bool:
    """True for a cell without text outside of drawings; a word that stands for a sign becomes the sign."""
    for text in cell.itertext():
        if text.strip(_NO_TEXT):
            break
    else:
        return next(cell.iter("table"), None) is None
    if next(cell.iter("svg"), None) is not None:
        return not any(text.strip(_NO_TEXT) and not _is_drawn(text) for text in cell.xpath(".//text()"))
    for icon in cell.iter("i", "span"):
        if "material-" in icon.get("class", "") and not len(icon) and (sign := _WORDS.get((icon.text or "").strip())):
            icon.text = sign
    return False


def _is_drawn(text: Any) -> bool:
    around = text.getparent()
    return (not text.is_tail and around.tag == "svg") or next(around.iterancestors("svg"), None) is not None


def _said(cell: Any, *, may_be_picture: bool) -> str:
    """What the first thing in a cell says that says something; "" for nothing.

    may_be_picture: False in a table without headings, which may be there for the layout of its pictures.
    """
    for thing in cell.iterdescendants():
        if thing.tag in {"script", "style", "button", "select"}:
            continue
        words = _words(thing, may_be_picture=may_be_picture)
        if words and len(words) <= LONGEST:
            return words
        classes = thing.get("class") or ""
        if classes and (sign := YES if _YES.search(classes) else NO if _NO.search(classes) else ""):
            return sign
        if thing.tag == "input" and thing.get("type") in {"checkbox", "radio"} and thing.get("disabled") is not None:
            return ON if thing.get("checked") is not None else OFF
    return ""


def _words(thing: Any, *, may_be_picture: bool) -> str:
    if thing.tag == "img":
        return " ".join((thing.get("alt") or thing.get("title") or "").split()) if may_be_picture else ""
    if (
        thing.get("aria-hidden") == "true"
        or thing.tag == "a"
        or next(thing.iterancestors("a", "button"), None) is not None
    ):
        return ""  # it says what a click does
    title = thing.findtext("title") if thing.tag == "svg" else None
    return " ".join((thing.get("aria-label") or title or thing.get("title") or "").split())


def square_tables(tree: Any) -> None:
    """Empty cells in the places that others span, for a reader that knows no spans, in place."""
    left = MOST_CELLS
    for table in tree.iter("table"):
        open_: dict[int, int] = {}  # of a column: rows for which a cell above still takes it
        for row in [row for row in table.iter("tr") if next(row.iterancestors("table"), None) is table]:
            place = column = 0
            for cell in [cell for cell in row if cell.tag in {"td", "th"}]:
                while open_.get(column, 0) and left > 0:
                    open_[column] -= 1
                    row.insert(place, row.makeelement("td"))
                    place, column, left = place + 1, column + 1, left - 1
                wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
                cell.attrib.pop("colspan", None)
                for _ in range(1, min(wide, left)):
                    cell.addnext(row.makeelement("td"))
                open_.update(dict.fromkeys(range(column, column + wide), high - 1))
                place, column, left = place + max(1, min(wide, left)), column + wide, left - wide + 1


def _span(cell: Any, name: str) -> int:
    said = cell.get(name, "")
    return min(max(int(said), 1), MAX_SPAN) if said.isascii() and said.isdigit() and len(said) < 6 else 1
