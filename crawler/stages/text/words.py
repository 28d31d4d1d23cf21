"""The text stages count here: words, characters and tokens of a text, whatever its script."""

from __future__ import annotations

import re

from crawler.document import Document

UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my", "bo", "dz"})
"""ISO 639-1 codes of languages written without spaces between words."""

_OF_SCRIPT = {
    "Thai": "th", "Laoo": "lo", "Khmr": "km", "Mymr": "my", "Tibt": "bo", "Hani": "zh", "Hans": "zh", "Hant": "zh",
    "Jpan": "ja",
}  # fmt: skip


def ruled_by(language: str | None, script: str | None) -> str:
    """The language by whose words and limits a text is judged: its own, or where nobody knows it that of its script.

    "" for a text without a language. Shan and Mon are counted as Burmese, Tibetan as Tibetan though its language is
    "und".
    """
    return _OF_SCRIPT.get(script or "", language or "") if language in (None, "und") else language


CJK_CHARS_A_WORD = 2
"""Mean length of a Chinese or Japanese word, in characters, rounded up."""
SOUTH_EAST_CHARS_A_WORD = 4
"""Mean length of a Thai, Lao, Khmer, Burmese or Tibetan word, in characters, rounded down."""

WORD_SPACE = "\u1361"
"""The Ethiopic mark between words, where white space is not written."""

_CJK = re.compile("[\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_SOUTH_EAST = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]")


def count_words(text: str) -> int:
    """Words separated by white space, and those estimated from the characters of scripts without spaces."""
    words = len(text.split())
    if not _may_be_unspaced(text):
        return words
    cjk, south_east = _count(_CJK, text), _count(_SOUTH_EAST, text)
    if WORD_SPACE in text:
        words = len(text.replace(WORD_SPACE, " ").split())
    return words + cjk // CJK_CHARS_A_WORD + south_east // SOUTH_EAST_CHARS_A_WORD


def _may_be_unspaced(text: str) -> bool:
    """False where no character is of a script without spaces; signs and letters of other scripts are told at once."""
    if text.isascii():
        return False
    import numpy as np  # late: not everybody who counts words has texts in many scripts

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    south_east = codes - np.uint32(_SOUTH_EAST_FROM) < _SOUTH_EAST_END - _SOUTH_EAST_FROM
    return bool((south_east | (codes >= _CJK_FROM)).any())


_SOUTH_EAST_FROM, _SOUTH_EAST_END, _CJK_FROM = 0x0E00, 0x1800, 0x3005
"""Where the scripts of `_SOUTH_EAST` stand among others, and where those of `_CJK` begin."""


def width(text: str) -> int:
    """Characters as they are printed: one of Chinese or Japanese is as wide as two letters, and says as much."""
    return len(text) if text.isascii() else len(text) + _count(_CJK, text)


def _count(characters: re.Pattern[str], text: str) -> int:
    """How many of these characters the text has. No list of them: each would take eighty bytes."""
    return len(text) - len(characters.sub("", text))


SHORT_WORDS = 100
"""Words under which a text is `short`: kept from EXTRACTION_MIN_WORDS on, and easy to leave out."""


def counts(text: str) -> dict[str, int]:
    """The counts of a text by column of the record."""
    return {"word_count": count_words(text), "char_count": len(text), "token_estimate": token_estimate(text)}


def token_estimate(text: str) -> int:
    """Tokens where no tokenizer is named: four bytes of UTF-8 each, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def is_short(words: int) -> bool:
    """What the column `short` says of a text of so many words."""
    return 0 < words < SHORT_WORDS


def recount(doc: Document) -> None:
    """Let the counts of a document follow its text: for every stage that changes it."""
    for name, value in counts(doc.text).items():
        setattr(doc, name, value)
    doc.short = is_short(doc.word_count)


_PIECES = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3005\U00020000-\U0003134f]{1,2}"
    "|[\u3040-\u309f]{1,2}|[\u30a0-\u30ff\u31f0-\u31ff]{1,4}|[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]{1,4}"
    "|[^\u0e00-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)


def pieces(chunk: str) -> list[str]:
    """What stands between white space, scripts without spaces cut into pieces of the mean length of their words.

    Chinese characters and hiragana by two, katakana (whole loan words) and South-East Asian letters by four. Repeats
    begin behind a mark as a rule, so that they are cut alike. Other scripts stay whole.
    """
    return [chunk] if chunk.isascii() else _PIECES.findall(chunk)
