"""Is a text without the type of HTML a page after all? HTML, a piece of it, or JSON that holds it, is read as that.

Servers send pages as `text/plain` or `text/markdown`, pieces of pages without a type, and what an interface answers. A
text that speaks of markup, or Markdown with some tags in it, stays a text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import orjson

LOOKED_AT = 65_536
"""Characters of a text in which tags are counted."""
LEAST_MARKUP = 200
"""Characters of a string of JSON from which it is what the JSON is about; or it is half of all its strings."""
LEAST_MARKS = 2
"""Signs of Markdown from which a text is Markdown with some tags in it."""
LEAST_ENDS, MOST_APART = 3, 400
"""Ends of elements, and characters for each, of a text that begins with none: others speak of markup."""
MOST_VALUES = 200_000
"""Values of JSON that are looked at."""
_PAGE = re.compile(
    r"(?:<!--.{0,2000}?-->\s*|<\?xml[^>]{0,200}\?>\s*)*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL
)
_STARTS = re.compile(
    r"<(?:p|div|span|section|article|main|header|footer|nav|aside|h[1-6]|ul|ol|dl|li|table|tbody|tr|td|blockquote|figure|form|b|i|em"
    r"|strong|a|img|br|hr|center|font|body|head|title|style|script|iframe|details|!--)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"</(?:p|div|span|section|article|main|h[1-6]|ul|ol|li|table|tr|td|th|blockquote|figure|a|b|i|em|strong|body|html|dd|dt|center"
    r"|font)\s*>|<br\s*/?>",
    re.IGNORECASE,
)
_MARKDOWN = re.compile(
    r"^(?:#{1,6} \S|```|~~~|[-*+] \S|\d{1,3}\. \S|> \S|\|.*\||={3,}$|-{3,}$)|\]\(\S{1,500}\)", re.MULTILINE
)
_CODE = re.compile(r"<\?php|<%|\{\{|\$\{|\bfunction\s*\(|=>|^\s*(?:import|export|from|#include) ", re.MULTILINE)
LEAST_SHARE = 0.1
"""Ends of elements a line that has something on it, from which a text that begins with one is a piece of a page."""


def markup_in(text: str, *, is_page: bool = False) -> str | None:
    """The HTML that a text is, or that its JSON holds; None for a text that is one, or a page as it should be.

    is_page: the server calls it HTML, so that only JSON would be something else.
    """
    start = text[:LOOKED_AT].lstrip("\ufeff \t\r\n")
    if start[:1] in {"{", "["}:
        return markup_of_json(text)
    if is_page:
        return None
    return text if _PAGE.match(start) or is_piece(start) else None


def is_piece(text: str) -> bool:
    """True for a piece of a page: its text stands in elements, and no other notation is in it."""
    ends = len(_ENDS.findall(text))
    if not ends or len(_MARKDOWN.findall(text)) >= LEAST_MARKS or _CODE.search(text):
        return False
    lines = sum(1 for line in text.split("\n") if line.strip())
    if _STARTS.match(text.lstrip()) is not None:
        return ends >= LEAST_SHARE * lines and (ends > 1 or text.rstrip().endswith(">"))
    return ends >= max(LEAST_ENDS, lines) and len(text) <= MOST_APART * ends


def markup_of_json(text: str) -> str | None:
    """The HTML in JSON: of the object, or of each in a list, the longest of its strings of HTML under its title."""
    if "</" not in text and "<\\/" not in text and "\\u003c" not in text.lower():
        return None
    try:
        data = orjson.loads(text.lstrip("\ufeff"))
    except orjson.JSONDecodeError:
        return None
    pieces = [piece for item in (data if isinstance(data, list) else [data]) if (piece := _piece(item))]
    return "\n".join(pieces) or None


def _piece(item: Any) -> str:
    strings = [*_strings(item)]
    found = max((value for value in strings if is_piece(value) or _PAGE.match(value)), key=len, default="")
    if not found or (len(found) < LEAST_MARKUP and 2 * len(found) < sum(map(len, strings))):
        return ""
    title = item.get("title") if isinstance(item, dict) else None
    title = title.get("rendered") if isinstance(title, dict) else title
    head = f"<h1>{html.escape(html.unescape(title))}</h1>" if isinstance(title, str) and title.strip() else ""
    return found if _PAGE.match(found) else f"<article>{head}{found}</article>"


def _strings(data: Any) -> Iterator[str]:
    waiting, left = [data], MOST_VALUES
    while waiting and left:
        value, left = waiting.pop(), left - 1
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
