"""A listing is code that a page shows line by line, however it writes that; here each becomes one <pre>.

Outside of <pre> browsers collapse white space, so pages break the lines of code with <br>, with an element or a row of
a table for each line (GitHub, CodeMirror, Monaco, hljs), or by a style. Extractors know <pre> alone: without this a
program is a paragraph, or lines without their indentation.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import Any

from lxml import etree

from crawler.stages.extraction.gutters import drop_numbers, is_numbers
from crawler.stages.extraction.tags import Tags

LEAST_LINES = 2
MOST_LINES = 20_000
MOST = 2_000
"""Elements of a page that may be listings."""
_MONOSPACE = re.compile(
    r"font(?:-family)?\s*:[^;]*(?:monospace|courier|consolas|menlo|monaco|lucida\s?console|inconsolata|fira\s?(?:code|mono)"
    r"|source\s?code|jetbrains|ubuntu\s?mono|dejavu\s?sans\s?mono|sf\s?mono|andale|roboto\s?mono)",
    re.IGNORECASE,
)
_KEEPS = re.compile(r"white-space\s*:\s*(pre(?:-wrap|-line)?|break-spaces)\b", re.IGNORECASE)
_MAY_SAY = re.compile(r"white-space|ont(?:-family)?\s*:")
_FACES = re.compile(r"courier|consolas|mono|menlo", re.IGNORECASE)
_STYLED = etree.XPath("//*[@style]")
_MAY_BE_STYLED = frozenset(["div", "p", "span", "td", "code", "font", "blockquote", "section", "tt", "samp", "kbd"])
_LINE_BY_LINE = re.compile(
    r"(?:^|\s)(?:view-line|cm-line|CodeMirror-line|ace_line|react-code-line|blob-code-inner|monaco-line|line|pre)(?:\s|$)"
)
_BOXES = "//div[contains(@class, 'fragment')]/div[@class = 'line']|//div[@class = 'pre']"
_BOXED_LINES = etree.XPath(_BOXES)
_LINES = etree.XPath(
    "//*[@class][contains(@class, 'cm-line') or contains(@class, 'view-line') or contains(@class, 'CodeMirror-line') "
    f"or contains(@class, 'ace_line')]|{_BOXES}"
)
_OF_CODE = ("highlight", "hljs", "code", "blob", "crayon", "lntable", "js-file", "rouge", "lines", "source")
"""In the names of a table or of its cells that hold code."""
_INLINE = frozenset(
    ("a", "abbr", "b", "bdi", "big", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "nobr", "q",
     "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr", "br")
)  # fmt: skip
_A_LINE = frozenset({"div", "p", "li", "ol", "tr"})
_SPACE = re.compile(r"[ \t\r\n\f]+")
_MAY_LINE = ("cm-line", "view-line", "CodeMirror-line", "ace_line")
_LINE_BOXES = frozenset({"fragment", "pre"})


def restore_listings(tree: Any, classes: str, styles: str, tags: Tags) -> None:
    """Every listing outside of <pre> as one, in place; classes, styles, tags: all of the page."""
    for table in filter(_may_hold_code, tags.elements(tree, "table", most=MOST)):
        _lines_of_table(table)
    has_lines = any(word in classes for word in _MAY_LINE)
    if has_lines or not _LINE_BOXES.isdisjoint(classes.split()):
        found = (_LINES if has_lines else _BOXED_LINES)(tree)[:MOST_LINES]
        lines = (line for line in found if _LINE_BY_LINE.search(line.get("class")))
        for holder in dict.fromkeys(map(_holder, lines)):
            _join_lines(holder)
    for code in tags.elements(tree, "code", "tt", "samp", "kbd", most=MOST):
        if len(code) and next(code.iter("br"), None) is not None and not _is_in_pre(code) and _may_be(code):
            _become_pre(code)
    if "white-space" in styles or "font" in styles:
        for element in [e for e in _STYLED(tree) if e.tag in _MAY_BE_STYLED and _MAY_SAY.search(e.get("style"))][:MOST]:
            _read_style(element)
    for element in tags.elements(tree, "font", most=MOST):
        _read_style(element)
    if next(tree.iter("pre"), None) is not None:
        tags.add("pre", "br")


def _may_hold_code(table: Any) -> bool:
    names = (table.get("class") or "").lower()
    if any(word in names for word in _OF_CODE) or next(table.iter("pre", "code"), None) is not None:
        return next(table.iterdescendants("table"), None) is None
    first = next(table.iter("tr"), None)
    cells = "" if first is None else " ".join(cell.get("class") or "" for cell in first).lower()
    is_named = any(word in cells for word in _OF_CODE) or next(table.iterancestors("pre", "code"), None) is not None
    return is_named and next(table.iterdescendants("table"), None) is None


def _read_style(element: Any) -> None:
    if element.getparent() is None or element.tag == "pre" or _is_in_pre(element):
        return
    style = element.get("style") or ""
    kept = found[1].lower() if (found := _KEEPS.search(style)) else ""
    is_code = (
        element.tag in {"code", "tt", "samp", "kbd"}
        or _MONOSPACE.search(style) is not None
        or (element.tag == "font" and _FACES.search(element.get("face") or "") is not None)
    )
    if is_code or kept == "pre":
        keeps = kept in {"pre", "pre-wrap", "break-spaces"}
        if _may_be(element) and (_has_lines(element) or (keeps and "\n" in element.text_content().strip())):
            _become_pre(element, keeps=keeps)
    elif kept and "\n" in element.text_content().strip():
        _break_lines(element)


def _break_lines(element: Any) -> None:
    """Text whose own line breaks count gets elements for them: verses, addresses, posts."""
    for each in list(element.iter()):
        if not isinstance(each.tag, str) or each.tag not in _INLINE | {element.tag}:
            continue
        _split(each, "text")
        if each is not element:
            _split(each, "tail")


def _split(element: Any, where: str) -> None:
    parts = (getattr(element, where) or "").split("\n")
    if len(parts) < LEAST_LINES or element.tag == "br":
        return
    setattr(element, where, parts[0])
    place, around = (0, element) if where == "text" else (element.getparent().index(element) + 1, element.getparent())
    for part in islice(parts[1:], MOST_LINES):
        line = element.makeelement("br")
        line.tail = part
        around.insert(place, line)
        place += 1


def _is_in_pre(element: Any) -> bool:
    return next(element.iterancestors("pre"), None) is not None


def _may_be(element: Any) -> bool:
    """True for an element of lines: nothing in it but words of a line, line breaks, and elements of one line each."""
    tags = {each.tag for each in element.iterdescendants() if isinstance(each.tag, str)}
    return tags <= _INLINE | _A_LINE and not (tags & {"p", "li"} and _is_prose(element))


def _is_prose(element: Any) -> bool:
    """A page that sets all of its text in a typewriter's letters has paragraphs of several lines."""
    paragraphs = [p for p in element.iter("p", "li") if p is not element]
    return any(len(p.text_content()) > 200 for p in paragraphs)


def _has_lines(element: Any) -> bool:
    if next(element.iter("br"), None) is not None:
        return True
    return sum(1 for child in element if child.tag in {"div", "p", "li"}) >= LEAST_LINES


def _become_pre(element: Any, *, keeps: bool = False) -> None:
    """The element as <pre>; keeps: white space of its source counts, so that it is left as it is."""
    if not keeps:
        for each in element.iter():
            each.text = _collapsed(each.text, begins=each.tag in _A_LINE or each is element)
            if each is not element:
                each.tail = _collapsed(each.tail, begins=each.tag == "br" or each.tag in _A_LINE)
    around = element.getparent()
    if element.tag == "td":
        pre = element.makeelement("pre")
        pre.text, element.text = element.text, None
        pre.extend(list(element))
        element.append(pre)
        return
    element.tag = "pre"
    if (
        around.tag == "p"
        and around.getparent() is not None
        and len(around) == 1
        and not _words(around.text, element.tail)
    ):
        around.tag = "div"


def _collapsed(text: str | None, *, begins: bool) -> str | None:
    """White space as a browser shows it: one blank, none where a line begins or ends; blanks that do not break stay."""
    if not text:
        return text
    flat = _SPACE.sub(" ", text)
    if begins:
        flat = flat.lstrip(" ")
    return flat.replace("\xa0", " ") or None


def _words(*texts: str | None) -> bool:
    return any((text or "").strip() for text in texts)


def _holder(line: Any) -> Any:
    """The element around all lines: CodeMirror has a <pre> in a <div> for each."""
    around = line.getparent()
    while around is not None and line.tag == "pre" and around.getparent() is not None:
        if sum(1 for each in around.iter("pre")) > 1:
            return around
        around = around.getparent()
    return around


def _join_lines(holder: Any) -> None:
    if holder is None or holder.getparent() is None or _is_in_pre(holder):
        return
    drop_numbers(holder)
    lines = [each for each in holder.iterdescendants() if _LINE_BY_LINE.search(each.get("class") or "")]
    lines.sort(key=_top)
    _replace(holder, lines)


def _top(line: Any) -> float:
    """Where Monaco draws a line, whose elements are in any order; 0 for others, which are in theirs."""
    found = re.search(r"top:\s*(-?\d{1,7})", line.get("style") or "")
    return float(found[1]) if found else 0.0


def _lines_of_table(table: Any) -> None:
    """A table with a line of code in each row, or one with the numbers of all lines in its first cell."""
    if table.getparent() is None:
        return
    rows = [[cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr")]
    rows = [row for row in rows if row]
    if len(rows) == 1 and len(rows[0]) == 2 and is_numbers(rows[0][0], least=1) and _holds_code(rows[0][1]):
        _drop_first(rows[0][0])
        cell = rows[0][1]
        if next(cell.iter("pre"), None) is None:
            _become_pre(cell)
        cell.tag, cell.tail = "div", table.tail
        table.getparent().replace(table, cell)
    elif rows and _are_lines(table, rows):
        _replace(table, [row[-1] for row in rows if len(row) > 1 or not _is_number(row[0])])


def _holds_code(cell: Any) -> bool:
    return next(cell.iter("pre", "code"), None) is not None or "code" in (cell.get("class") or "")


def _drop_first(cell: Any) -> None:
    cell.getparent().remove(cell)


def _are_lines(table: Any, rows: list[list[Any]]) -> bool:
    """True where the first cell of each row has the number of a line, one more than in the row before."""
    numbers = [number for row in rows if len(row) > 1 and (number := _number(row[0])) is not None]
    if not numbers or len(numbers) < 0.8 * len(rows) or any(two - one != 1 for one, two in pairwise(numbers)):
        return False
    if any(len(row) > 3 for row in rows):
        return False
    said = " ".join([table.get("class") or "", *(row[-1].get("class") or "" for row in rows[:3])]).lower()
    is_named = any(word in said for word in ("code", "highlight", "hljs", "blob", "source", "crayon", "lines"))
    return is_named or all(next(row[-1].iter("pre", "code"), None) is not None for row in rows) or _is_in_pre(table)


def _number(cell: Any) -> int | None:
    """The number of a line, which GitHub and hljs have in an attribute."""
    holder = next((each for each in cell.iter() if each.get("data-line-number")), None)
    text = holder.get("data-line-number") if holder is not None else cell.text_content()
    text = text.strip().rstrip(".:")
    return int(text) if text.isdecimal() and len(text) < 7 else None


def _is_number(cell: Any) -> bool:
    return _number(cell) is not None


def _replace(element: Any, lines: list[Any]) -> None:
    """One <pre> in place of an element that holds the lines."""
    if not lines:
        return
    pre = element.makeelement("pre")
    for name in ("class", "lang", "data-lang", "data-language"):
        around = (element, *islice(element.iterancestors("code", "pre"), 2)) if name == "class" else (element,)
        if value := " ".join(said for each in around if (said := each.get(name))):
            pre.set(name, value)
    texts = [_line(line) for line in lines[:MOST_LINES]]
    pre.text = "\n".join(texts)
    inside = next(element.iterancestors("pre"), None)
    if (
        inside is not None
        and inside.getparent() is not None
        and len(inside.text_content()) == len(element.text_content())
    ):
        pre.attrib.update({k: v for k, v in inside.attrib.items() if k not in pre.attrib})
        element = inside
    pre.tail = element.tail
    element.getparent().replace(element, pre)


def _line(element: Any) -> str:
    return str(element.text_content()).replace("\r", "").strip("\n").replace("\u200b", "")
