"""Classifiers see a text as the words and the punctuation it has, and runs of two of them, each hashed into a bucket.

No line break, no white space and no bullet is a feature: a model that knows them learns how a text was laid out, and
answers otherwise where only the layout changes. In scripts without spaces a word is a piece of the mean length
(`text/words.py`). Values are whole numbers, so that no sum depends on its order.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import numpy as np
import regex
import xxhash
from numpy.typing import NDArray

from crawler.stages.models.features import Features
from crawler.stages.text.words import pieces

BITS = 18
"""Buckets are 2 ** BITS; with 2 ** 20 the answers were no better."""
VERSION = 1
"""Of the token rule and the hashes: counted up where they change, because a model holds for one."""
ONE = 256
"""A value of 1: of a word that occurs once."""
PROBE = (
    "• Rain fell, and rain fell: on 12 roofs.\n\n- Größe, e\u0301t\u00e9, STRASSE; हिन्दी में लिखा है।\n"
    "東京の天気は晴れです。 “Quoted” text…"
)

_BULLETS = re.compile(r"^[ \t\u00a0]*(?:[-*+•·‣◦▪●○■–—][ \t\u00a0]+)+", re.MULTILINE)
_PLAIN = re.compile(r"\w+|[^\w\s]")
_ANY = regex.compile(r"[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_\s]")
_MARKED_OR_UNSPACED = re.compile("[\u0300-\u036f\u0483-\u0489\u0590-\u1fff\u20d0-\u20ff\u2cef-\u2dff\u3005-\U0010ffff]")
"""All scripts with marks of their own, or without spaces: in the others the quicker expression finds the same."""
_MIX, _LEFT, _RIGHT = (np.uint64(one) for one in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_VALUES = np.array([0, *(round(ONE * (1 + math.log(count))) for count in range(1, 1 << 12))], np.int64)
_MOST_CACHED = 1 << 17


class _Hashes(dict[str, int]):
    """The hashes of words met before; emptied where it has grown large, so that it does not grow with a crawl."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST_CACHED:
            self.clear()
        value = self[word] = xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass"))
        return value


_hashes = _Hashes()


def words(text: str) -> list[str]:
    """Words and punctuation in lower case, in their order; bullets at the start of a line are none."""
    plain = _BULLETS.sub("", text).lower()
    if plain.isascii():
        return _PLAIN.findall(plain)
    plain = unicodedata.normalize("NFC", plain)
    if not _MARKED_OR_UNSPACED.search(plain):
        return _PLAIN.findall(plain)
    found: list[str] = _ANY.findall(plain)
    return [piece for word in found for piece in pieces(word)]


def hashed(found: list[str], bits: int = BITS) -> NDArray[np.int64]:
    """The bucket of each word, and behind them that of each two in a row."""
    one = np.fromiter(map(_hashes.__getitem__, found), np.uint64, len(found))
    with np.errstate(over="ignore"):
        two = (one[:-1] * _LEFT) ^ (one[1:] * _RIGHT)
        return np.asarray((np.concatenate([one, two]) * _MIX) >> np.uint64(64 - bits), np.int64)


def features(text: str, bits: int = BITS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The buckets of a text in ascending order, and how much of it falls into each: ONE * (1 + ln count)."""
    places, counts = np.unique(hashed(words(text), bits), return_counts=True)
    return places, _VALUES[np.minimum(counts, len(_VALUES) - 1)]


def computed(probe: bytes) -> tuple[Features, ...]:
    """What a model's file holds against the features of today."""
    places, values = features(probe.decode())
    columns: NDArray[Any] = np.stack([places, values], 1).astype(np.float64)
    return (Features("words", VERSION, ("bucket", "value"), columns),)
