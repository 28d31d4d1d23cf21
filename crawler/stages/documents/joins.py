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
_HYPHENS = "-\u2010\u00ad"


def words_of(lines: Iterable[str]) -> Counter[str]:
    """The words that stand within a line: those at an end may be half of one."""
    known: Counter[str] = Counter()
    for line in lines:
        known.update(word.casefold() for word in _WORD.findall(line)[1:-1])
    return known


def joined(text: str, after: str, broken: bool, known: Counter[str]) -> str:
    """Two lines of one paragraph. broken: a hyphen at the end of the first was taken out already."""
    has_hyphen = not broken and text[-1:] in _HYPHENS and text[-2:-1].isalnum() and after[:1].isalnum()
    if broken or has_hyphen:
        text = text[:-1] if has_hyphen else text
        return text + ("-" if _keeps_hyphen(text, after, known, seen=has_hyphen) else "") + after
    if UNSPACED.match(text[-1:]) and UNSPACED.match(after[:1]):
        return text + after
    return f"{text} {after}"


def _keeps_hyphen(text: str, after: str, known: Counter[str], *, seen: bool) -> bool:
    first, second = _LAST.search(text), _FIRST.match(after)
    if first is None or second is None:
        return True
    whole, apart = (first[0] + second[0]).casefold(), f"{first[0]}-{second[0]}".casefold()
    if known[whole] or known[apart]:
        return known[apart] > known[whole]
    if second[0][0].isupper() and not (first[0].isupper() and second[0].isupper()):
        return True
    return first[0][-1].isdigit() or second[0][0].isdigit() or (seen and len(first[0]) < 2)
