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
_FLAGS, _BETWEEN = "(?iu)", ")|(?:"
_SIGNS = {ALPHA: "\x01", ALPHA_LOWER: "\x02"}
"""What stands for a class while a pattern is taken apart: the longer first, it holds the other."""
_ALTERNATIVE = re.compile(
    r"\^((?:\[[^\[\]]*[\x01\x02][^\[\]]*\][+*]?)?)([^\x01\x02]*)(\[[^\[\]]*[\x01\x02].*)\$", re.DOTALL
)
"""A set that holds a class, if it begins with one; what tells it from its neighbours; from the next such set on."""


def factored(pattern: str) -> str | None:
    """A pattern that matches the strings that `pattern` matches; None where `pattern` is not as spaCy 3.8 builds it."""
    for letters, sign in _SIGNS.items():
        pattern = pattern.replace(letters, sign)
    ends: dict[tuple[str, str], list[str]] = {}
    for alternative in pattern.removeprefix(f"{_FLAGS}(?:").removesuffix(")").split(_BETWEEN):
        if (found := _ALTERNATIVE.fullmatch(alternative)) is None:
            return None
        ends.setdefault((found[1], found[3]), []).append(found[2])
    together = "|".join(f"^{before}(?:{'|'.join(found)}){after}$" for (before, after), found in ends.items())
    for letters, sign in _SIGNS.items():
        together = together.replace(sign, letters)
    return _FLAGS + together


_compile = re.compile


def _compiled(pattern: Any, flags: int = 0) -> re.Pattern[Any]:
    """`re.compile`, for the time of the import."""
    if isinstance(pattern, str) and len(pattern) > BIG and not flags:
        pattern = factored(pattern) or pattern
    return _compile(pattern, flags)


re.compile = _compiled
try:
    import_module("spacy.lang.fr")
finally:
    re.compile = _compile
