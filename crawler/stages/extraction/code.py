"""Code in a page: how much of it there is, and which languages its classes name."""

from __future__ import annotations

import re
from typing import Any

CODE = ("pre", "code", "tt", "kbd", "samp")
LANGUAGE = re.compile(
    r"\b(?:lang(?:uage)?|brush|highlight(?:-source)?|sourceCode)[-: ]\s*([A-Za-z][A-Za-z0-9+#]{0,19})"
)
"""How generators and highlighters name the language of code in a class."""
_NO_LANGUAGE = frozenset({"text", "plain", "plaintext", "none", "nohighlight", "default", "highlighter", "notranslate"})
_ABOVE = 2
"""Elements around a <pre> whose class may name its language."""
MAX_NAMED = 1_000
"""Pieces of code that are noted of a page."""


def code_chars(tree: Any) -> int:
    """Characters that the page itself marks as code: <pre>, and <code>, <tt>, <kbd>, <samp> outside of it."""
    chars = inner = 0
    for element in tree.iter(*CODE):
        if inner:  # in page order, what stands inside an element follows it directly
            inner -= 1
        elif len(element):
            inner = sum(1 for _ in element.iterdescendants(*CODE))
            chars += len(element.text_content())
        else:
            chars += len(element.text or "")
    return chars


def language_of(names: list[str]) -> str:
    """The language that one of these classes names, the first first; "" where none does."""
    match = next((m for text in names if (m := LANGUAGE.search(text))), None)
    name = match[1].lower() if match else ""
    return "" if name in _NO_LANGUAGE else name


def named_code(tree: Any) -> list[tuple[str, str]]:
    """Language and first line of each <pre> whose language a class names, in page order."""
    found = []
    for pre in tree.iter("pre"):
        around = [pre, *_above(pre)]
        inner = pre.find(".//code[@class]")
        names = [e.get("class") or "" for e in ([] if inner is None else [inner]) + around]
        if (language := language_of(names)) and (line := _first_line(pre)):
            found.append((language, line))
            if len(found) >= MAX_NAMED:
                break
    return found


def languages_in(text: str, named: list[tuple[str, str]]) -> list[str]:
    """Languages of the code that stands in a text, without repetition."""
    if not named:
        return []
    lines = {" ".join(line.split()) for line in text.split("\n")}
    return list(dict.fromkeys(language for language, first in named if first in lines))


def _above(element: Any) -> list[Any]:
    above = element.iterancestors()
    return [parent for _, parent in zip(range(_ABOVE), above, strict=False)]


def _first_line(pre: Any) -> str:
    lines = (" ".join(line.split()) for line in pre.text_content().split("\n"))
    return next((line for line in lines if line), "")
