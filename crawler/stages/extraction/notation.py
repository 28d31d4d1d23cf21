"""Notation that a page writes with elements becomes characters, before any extractor reads the tree.

Without it "10<sup>6</sup>" reads 106, a note's number runs into the word before it, a formula is missing from its
sentence, a word stands glued to its own reading, and a picture of a sign is nothing. What is raised or lowered becomes
signs of Unicode (`raised.py`), formulas their TeX between `\\(` and `\\)` (displayed ones `\\[` and `\\]`), readings
stand in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any
from unicodedata import category

from lxml import etree

from crawler.stages.extraction.raised import write_lowered, write_raised

MOST_AROUND = 6
"""Elements around a <math> that may be the drawing of the same formula."""
LONGEST_SIGN = 40
"""Characters of a sign's name, such as ":thumbs-up:"."""
_DRAWN = frozenset({"katex", "katex-display", "mwe-math-element"})
"""Classes of elements that hold a formula as MathML and, beside it, as it is drawn."""
_MATHJAX = re.compile(r"(?:^|\s)MathJax(?:_|\s|$)")
_OF_TEX = frozenset({"latex", "tex", "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display"})
_DRAWS_TEX = re.compile(r"latex\.php|latex\.codecogs\.com")
_STYLED = re.compile(r"\{\\(?:display|text)style (.*)\}", re.DOTALL)
_OF_SIGNS = re.compile(r"emoji|smil", re.IGNORECASE)
_SIGN_NAME = re.compile(r":[\w+-]+:|[^\w\s]\S{0,7}")
_SHIFTED = etree.XPath(
    "//span[contains(@style, 'vertical-align')][contains(translate(@style, ' ', ''), 'vertical-align:super') "
    "or contains(translate(@style, ' ', ''), 'vertical-align:sub')]"
)
_SCRIPTS: dict[str, tuple[str, ...]] = {
    "msup": ("^",), "mover": ("^",), "msub": ("_",), "munder": ("_",),
    "msubsup": ("_", "^"), "munderover": ("_", "^"), "mfrac": ("/",),
}  # fmt: skip
"""By element of MathML: the signs between its parts."""


def write_notation(tree: Any, styles: str) -> None:
    """Formulas, powers, readings and pictures of signs as characters, in place; styles: all of the page."""
    for element in _SHIFTED(tree) if "vertical-align" in styles else ():
        element.tag = "sup" if "super" in element.get("style") else "sub"
    for element in reversed(list(tree.iter(*_WRITERS))):  # what stands in others first: a power of x with an index
        _WRITERS[element.tag](element)
    for element in list(tree.iter("sup", "sub")):
        if not len(element):
            element.drop_tag()  # resiliparse leaves out elements of one sign


def _write_formula(math: Any) -> None:
    drawn, is_display = math, math.get("display") == "block"
    for around in islice(math.iterancestors(), MOST_AROUND):
        classes = around.get("class") or ""
        if _MATHJAX.search(classes):
            return  # its script has the TeX
        if around.tag == "mjx-container" or not _DRAWN.isdisjoint(classes.split()):
            drawn, is_display = around, is_display or "katex-display" in classes or around.get("display") == "true"
    annotation = math.find(".//annotation[@encoding='application/x-tex']")
    tex = _tex((annotation.text if annotation is not None else None) or math.get("alttext") or "")
    _replace(drawn, _delimited(tex, is_display) if tex else " ".join(_linear(math).split()))


def _tex(source: str) -> str:
    """TeX on one line, without what only sets its size."""
    tex = " ".join(source.split()).strip("$").strip()
    styled = _STYLED.fullmatch(tex)
    return styled[1].strip() if styled else tex


def _delimited(tex: str, is_display: bool) -> str:
    return f"\\[{tex}\\]" if is_display else f"\\({tex}\\)"


def _linear(element: Any) -> str:
    """A formula without TeX in one line: x^2, (a+b)/c."""
    tag = element.tag
    if not isinstance(tag, str) or tag.startswith("annotation"):
        return ""
    parts = [_linear(child) for child in element]
    if (signs := _SCRIPTS.get(tag)) and len(parts) == len(signs) + 1:
        return _grouped(parts[0]) + "".join(sign + _grouped(part) for sign, part in zip(signs, parts[1:], strict=True))
    if tag == "msqrt":
        return f"√({''.join(parts)})"
    text = (element.text or "").strip()
    if tag in {"mtr", "mtd"} or (tag == "mi" and len(text) > 1):
        return text + "".join(parts) + " "
    return text + "".join(parts)


def _grouped(part: str) -> str:
    part = part.strip()
    return part if part.isalnum() or len(part) < 2 else f"({part})"


def _write_script(script: Any) -> None:
    """MathJax keeps the TeX in a script, behind what it has drawn of it."""
    kind = (script.get("type") or "").lower()
    if not kind.startswith("math/tex"):
        return
    before = script.getprevious()
    while before is not None and _MATHJAX.search(before.get("class") or "") and not (before.tail or "").strip():
        drawn, before = before, before.getprevious()
        drawn.drop_tree()
    if tex := _tex(script.text or ""):
        _replace(script, _delimited(tex, "display" in kind))


def _write_reading(reading: Any) -> None:
    """In brackets, as <rp> has them where a page provides for readers without ruby."""
    ruby = next((around for around in islice(reading.iterancestors(), 3) if around.tag == "ruby"), None)
    if ruby is None or ruby.find(".//rp") is not None or not reading.text_content().strip():
        return
    reading.text = "(" + (reading.text or "").lstrip()
    if len(reading):
        reading[-1].tail = (reading[-1].tail or "").rstrip() + ")"
    else:
        reading.text = reading.text.rstrip() + ")"


def _write_picture(img: Any) -> None:
    """The formula or sign that a picture stands for; other pictures say nothing in the sentence."""
    alt = " ".join((img.get("alt") or "").split())
    if not alt:
        return
    classes = img.get("class") or ""
    if not _OF_TEX.isdisjoint(classes.split()) or _DRAWS_TEX.search(img.get("src") or ""):
        img.tail = _delimited(_tex(alt), classes.endswith("display")) + (img.tail or "")
    elif len(alt) <= LONGEST_SIGN and (_is_sign(alt) or (_OF_SIGNS.search(classes) and _SIGN_NAME.fullmatch(alt))):
        img.tail = alt + (img.tail or "")


def _is_sign(alt: str) -> bool:
    """True for emoji and symbols without any word."""
    return not any(map(str.isalnum, alt)) and any(category(char) == "So" for char in alt)


def _replace(element: Any, text: str) -> None:
    """Put a text in the place of an element, where there is one."""
    if text and element.getparent() is not None:
        element.tail = text + (element.tail or "")
        element.drop_tree()


_WRITERS: dict[str, Callable[[Any], None]] = {
    "math": _write_formula,
    "script": _write_script,
    "sup": write_raised,
    "sub": write_lowered,
    "rt": _write_reading,
    "img": _write_picture,
}
