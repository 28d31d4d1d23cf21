"""Inside the extraction stage: small corrections of the tree before any extractor reads it."""

from __future__ import annotations

import re
from typing import Any

from crawler.stages.extraction.frame import mark_frame
from crawler.stages.extraction.render import protect_preformatted

_PARAGRAPH_CLASSES = frozenset({"para", "simpara", "formalpara"})
"""What DocBook and Publican call a paragraph that they write as <div>: without this, half of such a page is lost."""
_ANCHOR_SIGNS = frozenset({"¶", "#", "§", "🔗", "\uf0c1", "[link]", "Permalink"})


_LINE_NUMBERS = re.compile(r"\b(?:source-?)?line-?(?:no|nos|number|numbers)\b", re.IGNORECASE)
_STEPS = frozenset({"next", "prev", "previous", "up", "start", "home", "contents", "index"})
_STEP_KEYS = frozenset("npuh")
_MIN_STEPS = 2
_LONGEST_BAR = 400
"""Characters; whatever is longer holds more than steps."""

_CODE = ("pre", "code", "tt", "kbd", "samp")


def code_chars(tree: Any) -> int:
    """Characters that the page itself marks as code: <pre>, and <code>, <tt>, <kbd>, <samp> outside of it."""
    found = (e for e in tree.iter(*_CODE) if not any(a.tag in _CODE for a in e.iterancestors()))
    return sum(len(text) for element in found for text in element.itertext())


def prepare(tree: Any) -> None:
    """Mark preformatted text, unwrap inline code, make <p> of DocBook's <div class="para">, drop heading anchors.

    Line numbers of code and bars of "Next, Previous, Up" go, the frame of the text is marked. In place. trafilatura
    saves <code> out of sections it drops, which tears sentences apart.
    """
    _drop_line_numbers(tree)
    _drop_steps(tree)
    protect_preformatted(tree)
    for code in list(tree.iter(*_CODE[1:])):
        if _is_inline(code):
            code.drop_tag()
    for div in tree.iter("div"):
        if not _PARAGRAPH_CLASSES.isdisjoint((div.get("class") or "").split()) and div.find(".//div") is None:
            div.tag = "p"
    for anchor in list(tree.iter("a")):
        if anchor.get("href") is None:
            anchor.drop_tag()  # it leads nowhere: to count it as a link costs headings
        elif anchor.get("href").startswith("#") and (anchor.text or "").strip() in _ANCHOR_SIGNS:
            anchor.text = None
    for table in list(tree.iter("table")):
        if (
            next(table.iterancestors("li", "dd"), None) is not None
            and next(table.iter("pre", "ul", "dl"), None) is None
        ):
            _flatten(table)
    mark_frame(tree)


def _drop_line_numbers(tree: Any) -> None:
    """Line numbers that the page shows beside code: 14 of "14namespace"."""
    for element in list(tree.iter("span", "td", "a", "div")):
        if element.get("class") and _LINE_NUMBERS.search(element.get("class")):
            text = element.text_content().split()
            if text and all(word.isdigit() for word in text):
                element.drop_tree()


def _drop_steps(tree: Any) -> None:
    """Bars of links to the next, the previous and the upper page, as the links' own rel or accesskey says."""
    links = dict.fromkeys(a for a in tree.iter("a") if a.get("accesskey") in _STEP_KEYS or a.get("rel") in _STEPS)
    bars = dict.fromkeys(next(a.iterancestors("table", "ul", "p", "div"), None) for a in links)  # in page order
    for bar in bars:
        if bar is None or bar.getparent() is None or len(bar.text_content()) > _LONGEST_BAR:
            continue
        if sum(link in links for link in bar.iter("a")) >= _MIN_STEPS:
            bar.drop_tree()


def _flatten(table: Any) -> None:
    """A table in a list becomes lines of cells: the extractor would run its cells into each other."""
    rows = (
        " | ".join(" ".join(cell.text_content().split()) for cell in row.iter("td", "th")) for row in table.iter("tr")
    )
    lines = [row for row in rows if row.strip(" |")]
    span = table.makeelement("span")
    span.text, span.tail = lines[0] if lines else None, table.tail
    for line in lines[1:]:
        span.append(table.makeelement("br"))
        span[-1].tail = line
    table.getparent().replace(table, span)


def _is_inline(code: Any) -> bool:
    """True for code inside a sentence: one line, not in <pre>."""
    if any("\n" in text.strip() for text in code.itertext()) or code.find(".//br") is not None:
        return False
    return next(code.iterancestors("pre"), None) is None
