"""The language stage asks these: two identifiers, and one spelling of language codes.

Both read the first `MAX_CHARS` characters, are loaded once a process, and give the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from langdetect.detector_factory import PROFILES_DIRECTORY

from crawler.stages.language.codes import ISO_639_1
from crawler.stages.language.quick import py3langid
from crawler.stages.language.quick_langdetect import quick_or_plain

MAX_CHARS = 1_000
"""Characters an identifier reads: more costs time and changes next to nothing."""

_CODES = {
    "zh-cn": "zh", "zh-tw": "zh", "wuu": "zh", "yue": "zh", "nb": "no", "iw": "he", "hbo": "he", "in": "id", "ji": "yi",
    "arz": "ar", "ary": "ar", "kik": "ki", "gug": "gn", "fuv": "ff", "uzs": "uz", "sdh": "ku", "fil": "tl", "grc": "el",
}  # fmt: skip
FIRST_LOOK = 400
"""Characters that are enough where they leave no doubt (`NO_DOUBT`): py3langid's time grows with the text."""
NO_DOUBT = 0.999
_FIRST_LABELS = 4  # of a fastText model; a language has four varieties at most
NO_LANGUAGE = "zxx"
"""ISO 639-2 code of text that is no language."""


_VARIETIES = (frozenset({"bs", "hr", "sr", "sh"}), frozenset({"id", "ms"}), frozenset({"nn", "no"}))
"""Standard varieties of one language, whose speakers read each other: the macrolanguages Serbo-Croatian, Malay and
Norwegian of ISO 639-3, as far as identifiers tell them apart."""
KINDRED = {code: varieties - {code} for varieties in _VARIETIES for code in varieties}
"""The other varieties of the same language."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one identifier says: ISO 639-1 code (639-3 where there is none) and probability, 0 to 1."""

    language: str
    score: float
    kindred: float = 0.0
    """Probability of the other varieties of the same language (`KINDRED`)."""

    @property
    def certainty(self) -> float:
        """Probability that it is this language in one of its varieties."""
        return min(1.0, self.score + self.kindred)


class Identifier(Protocol):
    """A language identifier that can be plugged into the language stage."""

    name: str
    known: frozenset[str]
    """Codes it can answer; its silence about others is no evidence."""

    def identify(self, text: str) -> Answer | None:
        """The best answer, or None where the text holds nothing to go by."""
        ...


def identify_all(identifier: Identifier, parts: Sequence[str]) -> list[Answer | None]:
    """The answers to several texts, at once where the identifier can do that."""
    together: Any = getattr(identifier, "identify_all", None)
    found: list[Answer | None] = together(parts) if together else list(map(identifier.identify, parts))
    return found


def normal_code(code: str) -> str:
    """One spelling: lower case, ISO 639-1 where it exists, no region ("zh-cn" and "zh-TW" are "zh", "nb" is "no")."""
    code = code.strip().lower().replace("_", "-")
    language = code.split("-")[0]
    return _CODES.get(code) or _CODES.get(language) or ISO_639_1.get(language, language)


class FastText:
    """A fastText model of the user's (lid.176, GlotLID): one answer for the whole, as the model gives it.

    The text is read as one line, up to `MAX_CHARS` characters. Needs a package that provides the module `fasttext`
    (`fasttext-predict`: MIT, under 1 MB, no dependencies). Raises: ValueError where the file is no model.
    """

    name = "fasttext"

    def __init__(self, path: str) -> None:
        self._model: Any = import_module("fasttext").load_model(path)
        labels, _ = self._model.predict("a", k=-1)
        self.known = frozenset(map(_label_code, labels))

    def identify(self, text: str) -> Answer | None:
        """The most probable label, or None where the model has nothing to go by."""
        labels, scores = self._model.predict(" ".join(text[:MAX_CHARS].split()), k=_FIRST_LABELS)
        if not labels:
            return None
        language, *others = map(_label_code, labels)
        kin = KINDRED.get(language, frozenset())
        kindred = sum(float(score) for code, score in zip(others, scores[1:], strict=True) if code in kin)
        return Answer(language, min(float(scores[0]), 1.0), kindred)


def _label_code(label: str) -> str:
    """ "__label__eng_Latn" is "en"."""
    return normal_code(label.removeprefix("__label__"))


class Py3Langid:
    """py3langid with normalised probabilities: 97 languages, model inside the package, 0.1 ms a text."""

    name = "py3langid"

    def __init__(self) -> None:
        self._model: Any = py3langid()
        self._all: Any = getattr(self._model, "probabilities", None) or self._ranked
        self._codes = [normal_code(label) for label in self._model.nb_classes]
        kin = (KINDRED.get(code, ()) for code in self._codes)
        self._kin = [[at for at, code in enumerate(self._codes) if code in others] for others in kin]
        self.known = frozenset(self._codes)

    def identify(self, text: str) -> Answer | None:
        """The most probable language of the first characters."""
        return self.identify_all([text])[0]

    def identify_all(self, parts: Sequence[str]) -> list[Answer | None]:
        """The most probable language of the first characters of each text."""
        found = list(map(self._answer, self._all([part[:FIRST_LOOK] for part in parts])))
        for at, part in enumerate(parts):
            if found[at].certainty < NO_DOUBT and len(part) > FIRST_LOOK:
                found[at] = self._answer(self._all([part[:MAX_CHARS]])[0])
        return [None if answer.language == NO_LANGUAGE else answer for answer in found]

    def _answer(self, probabilities: Any) -> Answer:
        best = int(probabilities.argmax())
        return Answer(self._codes[best], float(probabilities[best]), float(probabilities[self._kin[best]].sum()))

    def _ranked(self, texts: Sequence[str]) -> list[Any]:
        """What `probabilities` answers, of a release that has no such thing. A label that comes twice counts once."""
        found = (dict(self._model.rank(text)) for text in texts)
        return [np.array([of.pop(label, 0.0) for label in self._model.nb_classes]) for of in found]


class Langdetect:
    """langdetect, seeded, with its profiles in alphabetical order: 55 languages, 0.7 ms a text."""

    name = "langdetect"

    def __init__(self) -> None:
        self._detector = _langdetect()
        self.known = frozenset(map(normal_code, self._detector.languages))

    def identify(self, text: str) -> Answer | None:
        """The most probable language, or None where no letter of a known script was found."""
        found = self._detector.best(text[:MAX_CHARS])
        return Answer(normal_code(found[0]), found[1]) if found else None


@cache
def _langdetect() -> Any:
    files = sorted(p for p in Path(PROFILES_DIRECTORY).iterdir() if not p.name.startswith("."))
    return quick_or_plain([p.read_text("utf-8") for p in files], seed=0)
