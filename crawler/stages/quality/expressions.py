"""The quality rules compile spaCy's expressions here, without the letters of East Asia until a text has one.

A language's expressions hold spaCy's sets of 105,000 letters up to twenty times. Python takes milliseconds for each,
nearly all of them for the letters from U+3000 on, which hardly any text has that spaCy splits. Without these letters
an expression matches the same in every other text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from spacy.lang.char_classes import ALPHA, ALPHA_LOWER, ALPHA_UPPER

NEAR = 0x3000
"""Where the letters begin that are left out."""
_FAR = re.compile(
    "[\u3000-\ud7ff\uf900-\ufdff\ufe10-\uffef\U0001ee00-\U0001eeff\U0001f200-\U0001f2ff\U00020000-\U0010ffff]"
)
"""All of these letters and more, but neither pictures (emoji) nor what is joined to them, nor the icons of fonts."""


def by_letters(compiled: Callable[[list[str]], re.Pattern[str]], parts: Iterable[str], way: str) -> Callable[..., Any]:
    """The method `way` of the expression that `compiled` makes of `parts`."""
    every = list(parts)
    near = getattr(compiled(list(map(_near, every))), way)
    far = cache(lambda: getattr(compiled(every), way))
    return lambda text: near(text) if text.isascii() or not _FAR.search(text) else far()(text)


def _near(expression: str) -> str:
    for letters in (ALPHA, ALPHA_LOWER, ALPHA_UPPER):
        expression = expression.replace(letters, near_letters(letters))
    return expression


@cache
def near_letters(letters: str) -> str:
    """The inside of a set that holds the near letters of another set, in stretches."""
    found = [ord(letter) for letter in re.findall(f"[{letters}]", "".join(map(chr, range(NEAR))))]
    first = [code for before, code in zip([-1, *found], found, strict=False) if code != before + 1]
    last = [code for code, after in zip(found, [*found[1:], -1], strict=True) if after != code + 1]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(first, last, strict=True))
