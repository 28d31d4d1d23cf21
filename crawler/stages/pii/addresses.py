"""Where the address of a page repeats what was redacted in it: a name as a slug, escaped, transliterated, or a number.

Each letter of a name is looked for in every way in which addresses write it: without its accent, as two letters, and,
where it is Cyrillic or Greek, in the usual Latin spellings (BGN/PCGN, ISO 9, ISO 843, passports). Other scripts are
found as they are, escaped or not, and in the host as IDNA (RFC 3492).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawler.document import Span
from crawler.stages.pii.known import LEAST, WORD, WORD_SETS, fold
from crawler.stages.pii.page import SECRET, Hit
from crawler.stages.pii.scripts import is_unspaced

_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_SIDE, _END = r"(?<![^\W\d_])", r"(?=s?(?![^\W\d_]))"
_JOINT = r"(?:(?![/?&=])[\W_]){0,3}"
_MIDDLE = r"(?:(?:(?![/?&=])[\W_]){1,3}[^\W\d_]{1,20}){0,3}(?:(?![/?&=])[\W_]){1,3}"
_LEAST_JOINED = 8  # letters of a whole name that is found within a longer word
_LEAST_DIGITS = 7
_WAYS = {
    "ä": "ae|a", "ö": "oe|o", "ü": "ue|u", "ß": "ss|s", "ø": "oe|o", "å": "aa|a", "æ": "ae|a", "œ": "oe|o",
    "þ": "th|t", "ð": "dh|d|th", "đ": "dj|d", "ł": "l", "ı": "i", "а": "a", "б": "b", "в": "v|w|ff",
    "г": "g|h", "ґ": "g", "д": "d", "е": "ye|je|e", "ё": "yo|jo|io|e", "є": "ye|ie|je", "ж": "zh|j|z",
    "з": "z|s", "и": "i|y", "і": "i", "ї": "yi|i|ji", "й": "y|i|j", "к": "k|c", "л": "l", "м": "m", "н": "n",
    "о": "o", "п": "p", "р": "r", "с": "ss|s", "т": "t", "у": "ou|u", "ф": "f|ph", "х": "kh|ch|h|x",
    "ц": "ts|tz|c|z", "ч": "ch|tch|c", "ш": "sh|sch|s", "щ": "shch|sch|sht|sc|shh", "ъ": "a|", "ы": "y|i",
    "ь": "", "э": "e", "ю": "yu|iu|ju|u", "я": "ya|ia|ja|a", "ў": "u|w", "љ": "lj", "њ": "nj", "ј": "j",
    "ћ": "c", "ђ": "dj", "џ": "dz|dzh", "α": "a", "β": "v|b", "γ": "gh|g|y|n", "δ": "dh|d", "ε": "e",
    "ζ": "z", "η": "i|e|h", "θ": "th|t", "ι": "i", "κ": "k|c", "λ": "l", "μ": "m", "ν": "n", "ξ": "x|ks",
    "ο": "o", "π": "p", "ρ": "rh|r", "σ": "s", "ς": "s", "τ": "t", "υ": "y|u|i|f|v|", "φ": "ph|f",
    "χ": "ch|kh|h|x", "ψ": "ps", "ω": "o|w",
}  # fmt: skip
"""Of letters that addresses write in another way than by leaving out an accent."""


class _Sign(NamedTuple):
    """A character of an address as it is read, and where it stands."""

    char: str
    start: int
    end: int


def places_in(url: str, hits: Iterable[tuple[str, Hit]]) -> list[Span]:
    """The passages of an address that repeat one of these hits: start, end, type; in order, none within another.

    hits: each with the text that it stands in. A given name alone, and a surname that is a common word, is no passage.
    """
    signs = list(_read(url))
    read = "".join(sign.char for sign in signs)
    found: list[Span] = []
    for pattern, entity in dict.fromkeys(one for text, hit in hits for one in _patterns(text, hit)):
        places = (match.span() for match in re.finditer(pattern, read))
        found += [(signs[start].start, signs[end - 1].end, entity) for start, end in places if end > start]
    return _apart(found)


def _apart(found: list[Span]) -> list[Span]:
    """The longest of those that overlap, in order."""
    kept: list[Span] = []
    for span in sorted(found, key=lambda one: (one[0] - one[1], one)):
        if all(span[1] <= other[0] or span[0] >= other[1] for other in kept):
            kept.append(span)
    return sorted(kept)


def _read(url: str) -> Iterator[_Sign]:
    """The address behind its scheme: escapes resolved, IDNA labels decoded, folded; a sign each, wherever it stands."""
    begin = url.find("://") + 3 if "://" in url else 0
    host_end = min((at for mark in "/?#" if (at := url.find(mark, begin)) >= 0), default=len(url))
    at = begin
    while at < len(url):
        if at < host_end and url.startswith("xn--", at) and (at == begin or url[at - 1] == "."):
            end = min((stop for mark in ".:" if 0 <= (stop := url.find(mark, at)) <= host_end), default=host_end)
            yield from (_Sign(char, at, end) for char in fold(_label(url[at:end])))
            at = end
        elif match := _ESCAPES.match(url, at):
            yield from _unescaped(match[0], at)
            at = match.end()
        else:
            yield _Sign(fold(url[at]), at, at + 1)
            at += 1


def _label(text: str) -> str:
    try:
        return text.encode("ascii").decode("idna")
    except UnicodeError:
        return text


def _unescaped(text: str, at: int) -> Iterator[_Sign]:
    """The characters of some escaped bytes; those that are no UTF-8 stand for themselves."""
    raw = bytes.fromhex(text.replace("%", ""))
    place = 0
    while place < len(raw):
        for size in (1, 2, 3, 4):
            try:
                char = raw[place : place + size].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            char, size = "\ufffd", 1
        yield _Sign(fold(char) or "\ufffd", at + 3 * place, at + 3 * (place + size))
        place += size


def _patterns(text: str, hit: Hit) -> Iterator[tuple[str, str]]:
    """What to look for in a folded address, and the type of what it is."""
    raw = text[hit.start : hit.end]
    if hit.entity == "PERSON":
        yield from ((pattern, hit.entity) for pattern in _of_person(raw))
    elif hit.entity not in {SECRET, "NRP"}:
        digits = [char for char in raw if char.isdecimal()]
        if len(digits) >= _LEAST_DIGITS and not any(char.isalpha() for char in raw):
            numerals = (str(int(char)) for char in digits)
            yield rf"(?<!\d){r'[^0-9a-z/?&=]{0,3}'.join(numerals)}(?!\d)", hit.entity
        elif len(raw) >= _LEAST_DIGITS:
            yield re.escape(fold(raw)), hit.entity


def _of_person(raw: str) -> Iterator[str]:
    words = [match[0] for match in WORD.finditer(raw) if fold(match[0]) not in WORD_SETS["titles"]]
    if len(words) < 2:
        if len(raw) > 1 and is_unspaced(raw[0]):  # one word is the whole name
            yield re.escape(fold(raw))
        return
    first, last = _ways(words[0]), _ways(words[-1])
    initial = _ways(words[0][0])
    yield rf"{_SIDE}{first}(?:{_JOINT}|{_MIDDLE}){last}{_END}"
    yield rf"{_SIDE}{last}{_JOINT}{first}{_END}"
    if len(words[-1]) > LEAST:
        yield rf"{_SIDE}{initial}{_JOINT}{last}{_END}"
        yield rf"{_SIDE}{last}{_JOINT}{initial}(?![^\W\d_])"
        if len(words[0]) + len(words[-1]) >= _LEAST_JOINED:
            yield rf"{first}{last}"
        if fold(words[-1]) not in WORD_SETS["common"] | WORD_SETS["months"] | WORD_SETS["institutions"]:
            yield rf"{_SIDE}{last}{_END}"


def _ways(word: str) -> str:
    """An expression for every way in which an address may write a word."""
    return "".join(_way(char) for char in word.lower())


def _way(char: str) -> str:
    if char in "'’":
        return r"(?:'|’|-)?"
    more = _WAYS.get(char, _WAYS.get(fold(char)))
    ways = [fold(char), *(more.split("|") if more is not None else ())]
    return f"(?:{'|'.join(dict.fromkeys(re.escape(way) for way in ways))})"
