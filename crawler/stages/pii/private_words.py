"""Expressions about pay, health, family, home and convictions make a name in their sentence private; by language.

`private_words.txt` has them and says what each kind is for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawler.stages.pii.context_words import any_of
from crawler.stages.pii.needles import Needles
from crawler.stages.pii.outline import Outline
from crawler.stages.text.tables import alternatives, sections


@dataclass(frozen=True, slots=True)
class PrivateWords:
    """The expressions of one language.

    anchors: words as they stand in the text, alone or with one mark behind them.
    strong, weak: searched in one sentence whose first letter is lower case.
    """

    anchors: Needles
    strong: re.Pattern[str]
    weak: re.Pattern[str]


def _words(language: str) -> PrivateWords:
    anchors = " ".join(_LINES[f"{language}_anchors"]).split()
    listed = {*anchors, *map(str.capitalize, anchors), *" ".join(_LINES[f"{language}_streets"]).split()}
    return PrivateWords(
        Needles({word: Outline(word).words for word in listed}, width=4),
        re.compile(rf"(?<![\w-]){alternatives(_LINES[f'{language}_strong'])}(?!\w)"),
        re.compile(rf"(?<![\w-])(?:{any_of(' '.join(_LINES[f'{language}_weak']))})(?![\w-])"),
    )


_LINES = sections(__package__, "private_words.txt")
PRIVATE_WORDS = {language: _words(language) for language in ("en", "fr")}
"""By ISO 639-1 code. In other languages names are looked for beside identifiers only."""
