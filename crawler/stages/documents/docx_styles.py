"""What the styles of a DOCX say of its paragraphs (ECMA-376, 17.7 and 17.9): headings, lists, code, contents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from crawler.stages.documents.numbering import BULLET, Count, Level
from crawler.stages.documents.packed import Package

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"(?:heading|titre|überschrift|encabezado|título|titolo|kop|rubrik|заголовок)\s*(\d)", re.I)
"""Names of the built-in styles; files of translated programs keep `heading N` as the name all the same."""
_CONTENTS = re.compile(r"(?:toc|index) (?:\d|heading)|table of (?:figures|authorities)|contents heading", re.I)
CODE = re.compile(r"(?:html )?preformatted|source ?code|code(?:[ -]?block)?$|listing|verbatim|macro text", re.I)
"""Names of styles of code, in whatever program."""
_FORMS = {
    "lowerLetter": "letter", "upperLetter": "LETTER", "lowerRoman": "roman", "upperRoman": "ROMAN",
    "bullet": "", "none": "",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Style:
    """level: of a heading from 1, else 0. number: list and level within it, as in a paragraph's own `numPr`."""

    level: int = 0
    number: tuple[str, int] | None = None
    is_code: bool = False
    is_contents: bool = False
    is_hidden: bool = False


def value(element: Any) -> str:
    """The `val` of an element; "" where there is none."""
    return "" if element is None else str(element.get(f"{W}val", ""))


def outline(properties: Any) -> int:
    """The level of a heading by its outline level; 0 where it has none."""
    level = value(properties.find(f"{W}outlineLvl"))
    return int(level) + 1 if level.isascii() and level.isdigit() and int(level) < 9 else 0


def number_of(properties: Any) -> tuple[str, int] | None:
    """The list of a paragraph, and the level of its item from 0. List "0": none, whatever the style says."""
    found = None if properties is None else properties.find(f"{W}numPr")
    if found is None:
        return None
    level = value(found.find(f"{W}ilvl"))
    return value(found.find(f"{W}numId")), int(level) if level.isascii() and level.isdigit() and len(level) < 2 else 0


def is_on(properties: Any, name: str) -> bool:
    """True where a property that is on or off is on."""
    found = None if properties is None else properties.find(f"{W}{name}")
    return found is not None and value(found) not in {"0", "false", "off"}


def styles_of(package: Package) -> dict[str, Style]:
    """By the id of the style; a style has what it is based on, of headings only its own level."""
    root = package.xml("word/styles.xml")
    elements = {str(e.get(f"{W}styleId")): e for e in (() if root is None else root.iter(f"{W}style"))}
    return {name: _style(element, elements) for name, element in elements.items()}


def _style(element: Any, elements: dict[str, Any]) -> Style:
    name, properties = value(element.find(f"{W}name")), element.find(f"{W}pPr")
    heading = _HEADING.match(name)
    level = int(heading[1]) if heading else 1 if name.lower() == "title" else 0
    level = level or (0 if properties is None else outline(properties))
    line = _line_of(element, elements)
    numbers = (number_of(each.find(f"{W}pPr")) for each in line)
    return Style(
        level=min(level, 9),
        number=next((one for one in numbers if one is not None), None),
        is_code=any(CODE.match(value(each.find(f"{W}name"))) for each in line),
        is_contents=any(_CONTENTS.match(value(each.find(f"{W}name"))) for each in line),
        is_hidden=is_on(element.find(f"{W}rPr"), "vanish"),
    )


def _line_of(element: Any, elements: dict[str, Any]) -> list[Any]:
    """The style and those that it is based on."""
    line: list[Any] = []
    while element is not None and element not in line and len(line) < 20:
        line.append(element)
        element = elements.get(value(element.find(f"{W}basedOn")))
    return line


class Numbers:
    """The lists of one document, as they are counted. Lists of one abstract list count on; an override begins anew."""

    def __init__(self, package: Package) -> None:
        root = package.page("word/numbering.xml")
        kinds = () if root is None else root.iter(f"{W}abstractNum")
        self._counts = {str(e.get(f"{W}abstractNumId")): Count(_levels(e)) for e in kinds}
        self._lists = {str(e.get(f"{W}numId")): e for e in (() if root is None else root.iter(f"{W}num"))}
        self._begun: set[tuple[str, int]] = set()

    def mark(self, number: tuple[str, int]) -> str:
        """What stands before an item of a list."""
        name, level = number
        element = self._lists.get(name)
        count = None if element is None else self._counts.get(value(element.find(f"{W}abstractNumId")))
        if count is None:
            return BULLET
        start = None if number in self._begun else _override(element, level)
        self._begun.add(number)
        return count.mark(level, start)


def _override(element: Any, level: int) -> int | None:
    for each in element.iter(f"{W}lvlOverride"):
        start = value(each.find(f"{W}startOverride"))
        if str(each.get(f"{W}ilvl")) == str(level) and start.isascii() and start.isdigit():
            return int(start[:6])
    return None


def _levels(kind: Any) -> dict[int, Level]:
    found = {}
    for each in kind.iter(f"{W}lvl"):
        level, start = str(each.get(f"{W}ilvl", "")), value(each.find(f"{W}start"))
        form = _FORMS.get(value(each.find(f"{W}numFmt")), "decimal")
        if level.isascii() and level.isdigit():
            first = int(start[:6]) if start.isascii() and start.isdigit() else 1
            found[int(level[:3])] = Level(form, value(each.find(f"{W}lvlText")), first)
    return found
