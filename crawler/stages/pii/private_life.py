"""`private_sentences` finds the sentences that speak of somebody's private life: a name there is personal data.

It must cost next to nothing on a page that says nothing of the kind: a set of anchor words decides first, only the
sentences around an anchor are read, and only those with two capitalised words in a row go to the model of `names`. One
strong expression is enough, or two weak words. A sentence with a year before 1930 is history.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawler.stages.pii.outline import Outline
from crawler.stages.pii.private_words import PRIVATE_WORDS, PrivateWords

_WEAK_WORDS = 2  # different weak words in a sentence that are as good as a strong expression
_LIVING_SINCE = 1930  # years before it are history: nobody it speaks of can be hurt
_SHORT = 300  # characters of a title or a description, which is split sooner than outlined
_REACH = 600  # characters of a sentence on each side of the anchor

_NAME_SHAPE = re.compile(
    r"[A-ZÀ-Þ][\w'’.-]* (?:(?:de|du|da|dos|van|von|der|den|ten|la|le|al|bin|ibn|el|[A-Z]\.) ){0,2}[A-ZÀ-Þ][\w'’-]"
)
_YEAR = re.compile(r"(?<![\d.,])1[0-9]{3}(?![\d,.]?\d)")
_END = re.compile(r"[.!?][\"'”’)\]]* +(?=[\"'“‘(]?[A-ZÀ-Þ0-9])|\n")
_ABBREVIATION = re.compile(r"(?<!\w)(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|Sr|Jr|vs|Inc|Ltd|Mme|Mlle|Me|approx|ca)\.\Z")


def private_sentences(text: str, language: str, outline: Outline | None = None) -> Iterator[tuple[int, int]]:
    """Start and end of sentences that hold a name's shape and words about a private life, in order, each once.

    Nothing in a language without words (`PRIVATE_WORDS`). outline: that of the text, its marks plain or not.
    """
    words = PRIVATE_WORDS.get(language)
    if words is None:
        return
    anchors = _anchors(text, words, outline or Outline(text))
    done = 0
    for at in sorted(place for anchor in anchors for place in _places(text, anchor)):
        if at < done:
            continue
        start, done = _sentence(text, at, done)
        if _is_private(text[start:done], words):
            yield start, done


def _anchors(text: str, words: PrivateWords, outline: Outline) -> list[str]:
    """The anchor words that the text has; most texts have none, and their outline says so."""
    if len(text) <= _SHORT:
        return list({word for token in text.split() for word in _words_of(token) if word in words.anchors.needles})
    needles, read = words.anchors.needles, outline.words
    return [word for word in words.anchors.possible(read) if needles[word] in read and _stands_alone(text, word)]


def _words_of(token: str) -> Iterator[str]:
    """What stands between white space, and the same without the mark behind it."""
    yield token
    if token[-1] in ",.;:)!?":
        yield token[:-1]
    elif token.endswith(("'s", "’s")):
        yield token[:-2]


_TOKEN_END = re.compile(r"(?:[,.;:)!?]|['’]s)?(?!\S)")


def _stands_alone(text: str, word: str) -> bool:
    """The word stands somewhere between white space, with one mark behind it at most."""
    at = text.find(word)
    while at >= 0:
        if not text[max(0, at - 1) : at].strip() and _TOKEN_END.match(text, at + len(word)):
            return True
        at = text.find(word, at + 1)
    return False


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            yield at
        at = text.find(word, end)


def _sentence(text: str, at: int, floor: int) -> tuple[int, int]:
    """The sentence around `at`, at most `_REACH` characters on each side, not before `floor`."""
    left = start = max(floor, at - _REACH)
    for match in _END.finditer(text, left, at):
        if not _is_abbreviated(text, match.start()):
            start = match.end()
    for match in _END.finditer(text, at, at + _REACH):
        if not _is_abbreviated(text, match.start()):
            return start, match.end()
    return start, min(len(text), at + _REACH)


def _is_abbreviated(text: str, at: int) -> bool:
    return text[at] == "." and bool(_ABBREVIATION.search(text[max(0, at - 8) : at + 1]))


def _is_private(sentence: str, words: PrivateWords) -> bool:
    if not _NAME_SHAPE.search(sentence):
        return False
    plain = sentence[:1].lower() + sentence[1:]
    if not words.strong.search(plain) and len(set(words.weak.findall(plain))) < _WEAK_WORDS:
        return False
    return all(int(year[0]) >= _LIVING_SINCE for year in _YEAR.finditer(sentence))
