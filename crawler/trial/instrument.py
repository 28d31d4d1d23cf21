"""The instrument: a character model of each sample says how many bits each byte of the held-out texts costs it.

Interpolated modified Kneser-Ney (`crawler/classify/kneser_ney.py`) over six characters. All models of a trial spell
alike: in lower case, white space as one sign, a run of one sign (a drawn line) as three of it, and a character that not
every sample has as its bytes in UTF-8 (as SentencePiece's byte fallback). So a rare character costs every model much
the same, in any script, and none is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crawler.classify.kneser_ney import SPACE, Model, sentences, train

ORDER = 6
_UNIT = "characters"
_BITS = math.log2(10)
_ANY_BYTE = 8.0
"""Bits that tell one byte from all others, where a model has never seen it."""
_BYTES = 0xF0000
"""Bytes are spelled by the code points from here on, of a plane for private use."""
_RUN = re.compile(r"([^\w\s])\1{3,}")
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How all models of a trial spell. alphabet: the characters that are not spelled as bytes."""

    alphabet: frozenset[str]
    _table: dict[int, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, samples: Iterable[Sequence[str]]) -> Spelling:
        """The characters that every sample has."""
        found = [set[str]().union(*(set(_plain(text)) for text in texts)) for texts in samples]
        return cls(frozenset(set.intersection(*found)) - {chr(_BYTES + byte) for byte in range(256)})

    def spelled(self, text: str) -> str:
        """The text as it is learned and asked."""
        text = _plain(text)
        for char in set(text) - self.alphabet:
            if ord(char) not in self._table and not char.isspace():
                encoded = char.encode("utf-8", "surrogatepass")
                self._table[ord(char)] = "".join(chr(_BYTES + byte) for byte in encoded)
        return text.translate(self._table)


def _plain(text: str) -> str:
    return _RUN.sub(r"\1\1\1", text.lower())


def learned(texts: Sequence[str]) -> Model:
    """A model of these spelled texts. Raises: ValueError where they have nothing but white space."""
    return train(texts, ORDER, _UNIT, least=1)


def costs(model: Model, texts: Sequence[str]) -> Floats:
    """What each of these spelled texts costs the model, in bits."""
    said = [model.score(text) for text in texts]
    return np.array([-one.logp * _BITS + one.unknown * _ANY_BYTE for one in said], np.float64)


def sizes(texts: Sequence[str]) -> Floats:
    """Of each spelled text the bytes that are predicted: those of its lines, each with its end."""
    return np.array([sum(1 + sum(map(_bytes, line)) for line in sentences(text, _UNIT)) for text in texts], np.float64)


def rare(texts: Sequence[str]) -> float:
    """Share of the predicted bytes that are spelled as bytes."""
    units = [unit for text in texts for line in sentences(text, _UNIT) for unit in line]
    return sum(ord(unit) >= _BYTES for unit in units) / max(1, sum(map(_bytes, units)))


def _bytes(unit: str) -> int:
    return 1 if unit == SPACE or ord(unit) >= _BYTES else len(unit.encode("utf-8", "surrogatepass"))
