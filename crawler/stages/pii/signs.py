"""`sign_in` says what in a text tells that it is about a person, for languages that no model of names reads.

A page is a matter for a person to look at where a pattern has found an identifier, or a sentence with somebody's name
in it speaks of pay, health, family or a conviction. The words of a language stand in `sign_words.txt`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from crawler.stages.pii.context_words import any_of
from crawler.stages.pii.mailing_lists import is_mailing_list
from crawler.stages.pii.page import Hit, lower_keeping_offsets
from crawler.stages.pii.postal import POSTAL
from crawler.stages.text.tables import sections

KINDS = ("pay", "health", "family", "conviction")
_LINES = sections(__package__, "sign_words.txt")
_LIKE = dict(pair.split() for pair in _LINES["like"])
"""Languages that share the words of another."""
LANGUAGES = frozenset({*(name.partition("_")[0] for name in _LINES if name.endswith("_pay")), *_LIKE})
"""Languages with words; in any other an identifier is the only sign."""
_SENTENCE = 300  # characters on each side of a word in which a name makes it a sign
_END = re.compile(r"[.!?։。！？۔।](?:\s|\Z)|\n")
_NAME = re.compile(
    r"(?:[^\W\d_](?<=[^a-z\W])[\w'’.-]*[ \u00a0]){1,2}(?:(?:de|da|dos|van|von|der|del|di|al|bin|ibn|el) ){0,2}"
    r"[^\W\d_](?<=[^a-z\W])[\w'’-]+"
)
_TWO_NOUNS = re.compile(r"[^\W\d_](?<=[^a-z\W])[\w'’.-]*[ \u00a0](?:v[ao]n )?[^\W\d_](?<=[^a-z\W])[\w'’-]+")
_INNER = re.compile(r"[^\W\d_][,;:]? [\"'“„«(]?([^\W\d_][\w'’-]*)")


@dataclass(frozen=True, slots=True)
class _Words:
    """kinds: one expression for each of `KINDS`. cased: names are told by their capitals."""

    kinds: dict[str, re.Pattern[str]]
    cased: bool
    nouns: bool  # every noun has a capital, so that it takes two words in a row to make a name


def sign_in(text: str, language: str | None, hits: Iterable[Hit]) -> str:
    """What tells that the text is about a person, in words without any of its own; "" where nothing does.

    hits: the identifiers that were found in it. Addresses of public mailing lists are nobody's, and a house may be a
    shop.
    """
    found = sorted({hit.entity for hit in hits if hit.entity != POSTAL and not is_mailing_list(hit)})
    if found:
        return f"an identifier: {', '.join(found)}"
    words = _words(language or "")
    if words is None:
        return ""
    lower = lower_keeping_offsets(text)
    kinds = [kind for kind, pattern in words.kinds.items() if _names_somebody(text, lower, pattern, words)]
    return f"words on {', '.join(kinds)}" if kinds else ""


def words_in(text: str, kind: str, language: str | None) -> Counter[str] | None:
    """How often each word of a kind stands in a text; None for a language without words. kind: of `KINDS`."""
    words = _words(language or "")
    return None if words is None else Counter(words.kinds[kind].findall(lower_keeping_offsets(text)))


def _names_somebody(text: str, lower: str, pattern: re.Pattern[str], words: _Words) -> bool:
    """True where one of the words stands in a sentence with a name, or anywhere in a script without capitals."""
    looked = 0
    for match in pattern.finditer(lower):
        if not words.cased:
            return True
        if match.start() < looked:
            continue
        start, looked = _sentence(text, *match.span())
        if _has_name(text[start:looked], words):
            return True
    return False


def _sentence(text: str, at: int, end: int) -> tuple[int, int]:
    start = max(0, at - _SENTENCE)
    for mark in _END.finditer(text, start, at):
        start = mark.end()
    behind = _END.search(text, end, end + _SENTENCE)
    return start, behind.start() if behind else min(len(text), end + _SENTENCE)


def _has_name(sentence: str, words: _Words) -> bool:
    for match in (_TWO_NOUNS if words.nouns else _NAME).finditer(sentence):
        parts = match[0].split()
        first = parts[0].lower()
        told = first in _COMMON or (words.nouns and any(kind.fullmatch(first) for kind in words.kinds.values()))
        if parts[0][0].isupper() and parts[-1][0].isupper() and not told:
            return True
    return not words.nouns and any(match[1][0].isupper() for match in _INNER.finditer(sentence))


@cache
def _words(language: str) -> _Words | None:
    language = _LIKE.get(language, language)
    if language not in LANGUAGES:
        return None
    kinds = {kind: " ".join(_LINES[f"{language}_{kind}"]).split() for kind in KINDS}
    cased = any(word[0].upper() != word[0] for word in kinds["pay"])
    return _Words({kind: _pattern(words, cased) for kind, words in kinds.items()}, cased, language in _LINES["nouns"])


def _pattern(words: list[str], cased: bool) -> re.Pattern[str]:
    """Whole words; what ends in * goes on, and _ is a space. Without capitals words take what touches them."""
    plain = [word.replace("_", " ") for word in words]
    if not cased:
        return re.compile(any_of("", *map(re.escape, plain)))
    whole = [re.escape(word) for word in plain if not word.endswith("*")]
    begun = [re.escape(word[:-1]) + r"\w*" for word in plain if word.endswith("*")]
    return re.compile(rf"(?<!\w)(?:{'|'.join([*whole, *begun])})(?!\w)")


_COMMON = frozenset(" ".join(_LINES["common"]).split())
"""Words that begin a sentence and no name."""
