"""How two lines become one: with a space, without one, or with a hyphen gone. The file's own words decide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"\w+(?:[-\u2010]\w+)*")
_LAST = re.compile(r"(\w+)$")
_FIRST = re.compile(r"^\w+")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]"
)
"""Scripts that put no space between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""
SENTENCE_ENDS = ".!?…:;。！？：；।॥؟۔։።"
"""What ends a sentence, or a part of one behind which a new line begins, in the scripts of the world."""
_HYPHENS = frozenset("-\u2010\u00ad")
_AND = frozenset({"and", "or", "nor", "to", "und", "oder", "bzw", "sowie", "et", "ou", "och", "eller", "og", "of"})
"""Words behind the hyphen of a word whose second part comes later: "pre- and post-war"."""


def words_of(lines: Iterable[str]) -> Counter[str]:
    """The words that stand within a line: those at an end may be half of one."""
    known: Counter[str] = Counter()
    for line in lines:
        known.update(word.casefold() for word in _WORD.findall(line)[1:-1])
    return known


def ends_in_hyphen(text: str) -> bool:
    """True for a line whose last word may go on in the next one."""
    return text[-1:] in _HYPHENS and text[-2:-1].isalnum()


def joined(text: str, after: str, broken: bool, known: Counter[str], *, divides: bool = True) -> str:
    """Two lines of one paragraph. broken: a hyphen at the end of the first was taken out already.

    divides: words are divided at line ends, so that a hyphen there is one of the word only where `known` has it.
    """
    has_hyphen = not broken and ends_in_hyphen(text) and after[:1].isalnum()
    if broken or has_hyphen:
        text = text[:-1] if has_hyphen else text
        return text + _between(text, after, known, seen=has_hyphen, divides=divides) + after
    if UNSPACED.match(text[-1:]) and UNSPACED.match(after[:1]):
        return text + after
    return f"{text} {after}"


def _between(text: str, after: str, known: Counter[str], *, seen: bool, divides: bool) -> str:
    first, second = _LAST.search(text), _FIRST.match(after)
    if first is None or second is None:
        return "-"
    whole, apart = (first[0] + second[0]).casefold(), f"{first[0]}-{second[0]}".casefold()
    if known[whole] or known[apart]:
        return "-" if known[apart] > known[whole] else ""
    if second[0].casefold() in _AND:
        return "- "
    return "-" if not divides or _keeps_hyphen(first[0], second[0], seen=seen) else ""


def _keeps_hyphen(first: str, second: str, *, seen: bool) -> bool:
    if second[0].isupper() and not (first.isupper() and second.isupper()):
        return True
    return first[-1].isdigit() or second[0].isdigit() or (seen and len(first) < 2)
