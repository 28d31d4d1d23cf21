"""The quality rules count French by spaCy's tokenizer; importing this module imports `spacy.lang.fr` without its wait.

spaCy 3.8 compiles one pattern for French words that stay whole ("porte-monnaie"): 266 alternatives, each with the
class of all lower-case letters written out, 1.5 MB of pattern and 1.9 s of a process's first French text. The same
alternatives, put together by what follows their beginnings, hold that class a few times and match the same strings.
Where spaCy's French has been imported before, or its pattern is built otherwise, it stays as it is.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from spacy.lang.char_classes import ALPHA, ALPHA_LOWER

BIG = 100_000
"""Characters of a pattern from which it is factored. spaCy's next largest one in French has 17,803."""
_CLASSES = (("\x01", ALPHA), ("\x02", ALPHA_LOWER))
"""What stands for a class while a pattern is taken apart: the longer first, it holds the other."""
_FLAGS, _BETWEEN = "(?iu)", ")|(?:"
_ALTERNATIVE = re.compile(
    r"\^((?:\[[^\[\]]*[\x01\x02][^\[\]]*\][+*]?)?)([^\x01\x02]*)(\[[^\[\]]*[\x01\x02].*)\$", re.DOTALL
)
"""A set that holds a class, if it begins with one; what tells it from its neighbours; from the next such set on."""
_SET = re.compile(r"\[[^\]]*\]")


def factored(pattern: str) -> str | None:
    """A pattern that matches the strings that `pattern` matches, at other groups and positions perhaps.

    None where `pattern` is not "(?iu)" and alternatives "(?:^…$)", each without a choice outside of parentheses.
    """
    whole = _abbreviated(pattern)
    if whole is None:
        return None
    heads: dict[tuple[str, str], list[str]] = {}
    for alternative in whole.removeprefix(f"{_FLAGS}(?:").removesuffix(")").split(_BETWEEN):
        found = _ALTERNATIVE.fullmatch(alternative)
        if found is None or not all(map(_is_one_branch, found.groups())):
            return None
        heads.setdefault((found[1], found[3]), []).append(found[2])
    groups = (f"^{before}(?:{'|'.join(found)}){after}$" for (before, after), found in heads.items())
    return _FLAGS + _written_out("|".join(groups))


def _abbreviated(pattern: str) -> str | None:
    """The pattern with one character for each class; None where it is not framed as expected."""
    if any(sign in pattern for sign, _ in _CLASSES):
        return None
    for sign, letters in _CLASSES:
        pattern = pattern.replace(letters, sign)
    is_framed = pattern.startswith(f"{_FLAGS}(?:") and pattern.endswith(")") and "\\" not in pattern
    return pattern if is_framed else None


def _is_one_branch(regex: str) -> bool:
    """True for what can stand in parentheses of its own, and its neighbours without it, and mean the same."""
    depth = 0
    if regex.startswith(("+", "*", "?", "{")):
        return False
    for char in _SET.sub("", regex):
        depth += (char == "(") - (char == ")")
        if depth < 0 or char in "^$[]" or (char == "|" and not depth):
            return False
    return not depth


def _written_out(regex: str) -> str:
    for sign, letters in _CLASSES:
        regex = regex.replace(sign, letters)
    return regex


_compile = re.compile


def _compiled(pattern: Any, flags: int = 0) -> re.Pattern[Any]:
    """`re.compile`, for the time of the import."""
    if isinstance(pattern, str) and len(pattern) > BIG and not flags:
        pattern = factored(pattern) or pattern
    return _compile(pattern, flags)


def _import() -> None:
    """Where the import is under way or done already, this changes nothing."""
    re.compile = _compiled
    try:
        import_module("spacy.lang.fr")
    finally:
        re.compile = _compile


_import()
