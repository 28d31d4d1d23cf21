"""The language stage asks these: identifiers, declared by name, and one spelling of language codes.

All read the first `MAX_CHARS` characters, are loaded once a process, and give the same answer on every machine. Another
package adds one by the entry-point group `gristmill.languages`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import orjson
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
from langdetect.lang_detect_exception import LangDetectException
from numpy.typing import NDArray
from py3langid.langid import MODEL_FILE
from py3langid.langid import LanguageIdentifier as LangidModel

from crawler import native
from crawler.native.visits import Automaton, rows_of
from crawler.plugins import registry
from crawler.stages.language.codes import normal_code

MAX_CHARS = 1_000
"""Characters an identifier reads: more costs time and changes next to nothing."""

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


@runtime_checkable
class Choosing(Protocol):
    """An identifier that can be asked for the best of some languages: those written in the script of the text."""

    def choose(self, text: str, among: frozenset[str]) -> Answer | None:
        """The best answer out of these languages; None where it knows none of them, or has nothing to go by."""
        ...


@dataclass(frozen=True, slots=True)
class LanguageIdentifier:
    """A declared identifier: `LANGUAGE_IDENTIFIER` names it, and it then answers alone.

    name: in the setting; its answers stand in `language_signals` under the `name` of what is loaded. load: called once
    a process with what stands behind `name:` in the setting ("" where nothing does). Raises: ValueError, which goes on
    behind "LANGUAGE_IDENTIFIER": "names x.bin, which is not a file: download the model first".
    """

    name: str
    load: Callable[[str], Identifier]


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


def _fasttext(path: str) -> Identifier:
    if not Path(path).is_file():
        raise ValueError(f"names {path}, which is not a file: download the model first")
    if find_spec("fasttext") is None:
        raise ValueError("needs the module fasttext: run `pip install fasttext-predict`")
    try:
        return FastText(path)
    except (ValueError, RuntimeError, MemoryError) as error:
        raise ValueError(f"names {path}, which is not a fastText model: {error}; download it again") from error


class Py3Langid:
    """py3langid with normalised probabilities: 97 languages, model inside the package, 0.1 ms a text."""

    name = "py3langid"

    def __init__(self) -> None:
        self._model = _py3langid()
        self._codes = {label: normal_code(label) for label in self._model.labels}
        self.known = frozenset(self._codes.values())

    def identify(self, text: str) -> Answer | None:
        """The most probable language of the first characters."""
        return self.choose(text, self.known)

    def choose(self, text: str, among: frozenset[str]) -> Answer | None:
        """The most probable one of these languages, and its share of what they have together."""
        if among.isdisjoint(self.known):
            return None
        answer = self._answer(text[:FIRST_LOOK], among)
        if answer.certainty < NO_DOUBT and len(text) > FIRST_LOOK:
            answer = self._answer(text[:MAX_CHARS], among)
        return None if answer.language == NO_LANGUAGE else answer

    def _answer(self, text: str, among: frozenset[str]) -> Answer:
        ranked = self._model.rank(text)  # its first is what `classify` says
        label, score = ranked[0]
        language = self._codes[label]
        if score >= NO_DOUBT and language in among:
            return Answer(language, score)
        shares: dict[str, float] = {}
        for label, share in ranked:  # Chinese has several labels
            if (code := self._codes[label]) in among:
                shares[code] = shares.get(code, 0.0) + share
        language, total = max(shares, key=shares.__getitem__), sum(shares.values()) or 1.0
        kindred = sum(shares.get(code, 0.0) for code in KINDRED.get(language, ()))
        return Answer(language, shares[language] / total, kindred / total)


class Langdetect:
    """langdetect, seeded, with its profiles in alphabetical order: 55 languages, 2 ms a text."""

    name = "langdetect"

    def __init__(self) -> None:
        self._factory = _langdetect()
        self.known = frozenset(map(normal_code, self._factory.get_lang_list()))

    def identify(self, text: str) -> Answer | None:
        """The most probable language, or None where no letter of a known script was found."""
        return self.choose(text, self.known)

    def choose(self, text: str, among: frozenset[str]) -> Answer | None:
        """The most probable one of these languages; None where all that it finds are others."""
        if among.isdisjoint(self.known):
            return None
        detector = self._factory.create()
        detector.append(text[:MAX_CHARS])
        try:
            found = detector.get_probabilities()
        except LangDetectException:
            return None
        those = [one for one in found if normal_code(one.lang) in among]
        total = 1.0 if those and those[0] is found[0] else sum(one.prob for one in those)
        return Answer(normal_code(those[0].lang), round(those[0].prob / total, _DIGITS)) if those else None


_DIGITS = 4
"""Decimals of langdetect's probability that count: the last bits depend on the order of its sums."""


class _Model(LangidModel):  # type: ignore[misc]  # the package has no types
    """py3langid's, which counts in C where there is a library.

    It adds up in double precision: in single, as the package does, the last of four decimals of a share depends on the
    vector unit of the machine, and a replay elsewhere has another.
    """

    nb_ptc: NDArray[Any]

    @cached_property
    def _automaton(self) -> Automaton:
        return Automaton(self.tk_nextmove, self._rowbase, self.tk_output, len(self.nb_ptc))

    def _raw_score(self, text: bytes) -> Any:
        library = native.library()
        found = None if library is None else self._automaton.visits(library, text)
        if library is None or found is None or not len(found[0]):
            if self.nb_ptc.dtype == np.float16:  # numpy converts it slowly, and to the same numbers each time
                self.nb_ptc = self.nb_ptc.astype(np.float32)
            return super()._raw_score(text)
        features, counts = found
        return self._score(counts, rows_of(library, self.nb_ptc, features))

    def _sparse_score(self, visits: dict[int, int], table: NDArray[Any]) -> Any:
        return self._score(np.array(list(visits.values())), table[list(visits)])

    def _score(self, counts: NDArray[Any], rows: NDArray[Any]) -> Any:
        return np.log1p(counts.astype(np.float64)) @ rows.astype(np.float64) + self.nb_pc


@cache
def _py3langid() -> Any:
    return _Model.from_model_file(MODEL_FILE, norm_probs=True)


class _Shares(dict[str, Any]):
    """The share of each n-gram in each language, as langdetect asks for it: a row of numbers, nearly all of them 0.

    What is kept of each are the languages that have it, by number, with its share; its row is made when asked for.
    """

    def __init__(self, languages: int) -> None:
        self._languages = languages
        self._rows: dict[str, list[float]] = {}

    def __getitem__(self, gram: str) -> list[float]:
        row = self._rows.get(gram)
        if row is None:
            row = self._rows[gram] = [0.0] * self._languages
            for language, share in self.get(gram, ()):
                row[language] = share
        return row


@cache
def _langdetect() -> Any:
    """What `DetectorFactory.load_json_profile` makes of the profiles, in less time and memory."""
    files = sorted(p for p in Path(PROFILES_DIRECTORY).iterdir() if not p.name.startswith("."))
    factory, shares = DetectorFactory(), _Shares(len(files))
    for number, file in enumerate(files):
        profile = orjson.loads(file.read_bytes())
        factory.langlist.append(profile["name"])
        sizes = dict(enumerate(profile["n_words"], 1))
        for gram, times in profile["freq"].items():
            found = shares.setdefault(gram, [])
            if size := sizes.get(len(gram)):
                found.append((number, times / size))
    factory.word_lang_prob_map = shares
    factory.set_seed(0)
    return factory


BUILT_IN = {
    one.name: one
    for one in (
        LanguageIdentifier("py3langid", lambda _: Py3Langid()),
        LanguageIdentifier("langdetect", lambda _: Langdetect()),
        LanguageIdentifier("fasttext", _fasttext),
    )
}


def named(setting: str) -> Identifier:
    """The identifier that `LANGUAGE_IDENTIFIER` names, loaded.

    Raises: ValueError that goes on behind the setting's name; InputError where an installed package is at fault.
    """
    name, _, argument = setting.partition(":")
    known = registry("languages", LanguageIdentifier, BUILT_IN)
    if name not in known:
        raise ValueError(f"names {name}, which no installed package has; known: builtin, {', '.join(known)}")
    return known[name].load(argument)
