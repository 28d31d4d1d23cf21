"""What the styles of an ODT say of its text (ODF 1.3, part 3, 16): lists, code, what is hidden, raised or lowered."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from crawler.stages.documents.numbering import Level
from crawler.stages.documents.packed import Package, local
from crawler.stages.text.shifted import lowered, raised

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
STYLE = f"{_TEXT}style-name"
_FORMS = {"1": "decimal", "a": "letter", "A": "LETTER", "i": "roman", "I": "ROMAN"}
_CODE = re.compile(
    r"preformatted|source[ _-]?code|code(?:block)?$|listing|verbatim|rststyle-(?:code|doctest|literal|line)?-?block",
    re.I,
)


@dataclass(slots=True)
class Styles:
    """Names of styles, by what they do. lists: levels from 0."""

    code: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    shifts: dict[str, Callable[[str], str]] = field(default_factory=dict)
    lists: dict[str, dict[int, Level]] = field(default_factory=dict)


def styles_of(package: Package, content: Any) -> Styles:
    """Those of the file and of its text. content: the root of `content.xml`. Raises: UnreadableError."""
    return styles_in(package.page("styles.xml"), content)


def styles_in(*roots: Any) -> Styles:
    """Those of the members of a file, whose roots may be None; a later one counts before an earlier one."""
    found = Styles()
    for root in roots:
        for element in () if root is None else root.iter(f"{_STYLE}style", f"{_TEXT}list-style"):
            name = str(element.get(f"{_STYLE}name", ""))
            if local(element) == "list-style":
                found.lists[name] = dict(filter(None, map(_level, element)))
            else:
                _read(element, name, found)
    return found


def _read(element: Any, name: str, found: Styles) -> None:
    parent = str(element.get(f"{_STYLE}parent-style-name", ""))
    if parent in found.code or any(_CODE.match(one.replace("_20_", " ")) for one in (name, parent)):
        found.code.add(name)
    properties = element.find(f"{_STYLE}text-properties")
    if properties is None:
        return
    if properties.get(f"{_TEXT}display") == "none":
        found.hidden.add(name)
    place = str(properties.get(f"{_STYLE}text-position", "")).split(" ")[0]
    if place.startswith(("super", "sub")):
        found.shifts[name] = raised if place == "super" else lowered
    elif re.fullmatch(r"-?[1-9]\d{0,2}%", place):
        found.shifts[name] = lowered if place.startswith("-") else raised


def _level(element: Any) -> tuple[int, Level] | None:
    if not isinstance(element.tag, str):
        return None
    level, start = str(element.get(f"{_TEXT}level", "")), str(element.get(f"{_TEXT}start-value", "1"))
    if not (level.isascii() and level.isdigit()):
        return None
    place = int(level[:3]) - 1
    form = _FORMS.get(str(element.get(f"{_STYLE}num-format", "")), "")
    shown = str(element.get(f"{_TEXT}display-levels", "1"))
    number = min(int(shown), place + 1) if shown.isascii() and shown.isdigit() and len(shown) < 3 else 1
    numbers = ".".join(f"%{n}" for n in range(place + 2 - number, place + 2) if n < 10)
    said = f"{element.get(f'{_STYLE}num-prefix', '')}{numbers}{element.get(f'{_STYLE}num-suffix', '')}"
    return place, Level(form, said, int(start[:6]) if start.isascii() and start.isdigit() else 1)
