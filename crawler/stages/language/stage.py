"""Third text stage: which language is it in? Two identifiers, one verdict, both answers on the record.

py3langid answers first. langdetect confirms where the first is not confident, the text is short, or the language is
one of a family that identifiers confuse. The HTML `lang` attribute is recorded as evidence and never decides.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from crawler.config import LanguageConfig
from crawler.document import Document, Drop, DropReason
from crawler.problems import InputError
from crawler.stages.language.identifiers import (
    KINDRED,
    MAX_CHARS,
    Answer,
    Identifier,
    Langdetect,
    Py3Langid,
    named,
    normal_code,
)

CONFUSED = frozenset(
    "ms id bs hr sr cs sk no nn da gl pt es be uk xh zu st tn nso".split()  # noqa: SIM905  # twenty lines otherwise
)
"""Languages whose relatives look alike to n-grams: a second opinion is asked for."""


TWINS = {"bs": "hr", "ms": "id"}
"""Languages that only the first identifier knows, and the one that it cannot tell them from in a sentence."""

TOSS_UP = 0.65
"""Probability under which a language is not told from others (the default of `LANGUAGE_MIN_SCORE`)."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When the second identifier is asked, and when no answer is given. Checked on ten sentences in 75 languages."""

    min_letters: int = 12
    """Under so many letters no identifier can be trusted. (Words are no measure: Chinese puts none apart.)"""
    confident: float = 0.95
    """Probability from which the first identifier is not doubted."""
    short_chars: int = 300
    """Texts shorter than this are always asked twice."""
    sampled_chars: int = 600
    """Texts from this length on may be of two languages: samples over their length say which share the main one has."""
    samples: int = 5
    """The first is the beginning, which is identified anyway. A sample under `TOSS_UP` has no say."""
    shortest_sample_chars: int = 120
    longest_sample_chars: int = 300
    """A sample is a tenth of the text, between these bounds."""


class LanguageStage:
    """Sets `language`, `language_score` and `language_signals`."""

    name: ClassVar[str] = "language"

    def __init__(
        self,
        config: LanguageConfig,
        first: Identifier | None = None,
        second: Identifier | None = None,
        thresholds: Thresholds | None = None,
    ) -> None:
        """Load the models. `LANGUAGES` may spell codes in any usual way ("zh-CN", "nb").

        One that `LANGUAGE_IDENTIFIER` names answers alone: it needs no confirmation by smaller ones.
        """
        self._wanted = frozenset(map(normal_code, config.languages))
        self._min_score = config.min_score
        self._min_scores = {normal_code(k): float(v) for k, _, v in (p.partition(":") for p in config.min_scores)}
        if first is None and config.identifier != "builtin":
            first = named(config.identifier)
        elif second is None:
            second = Langdetect()
        self._first, self._second = first or Py3Langid(), second
        self._limits = thresholds or Thresholds()

    def __call__(self, doc: Document) -> Document | Drop:
        """Identify the language of `doc.text`.

        Drops: language_unknown (too few letters, or no answer), language_low_score, language_not_wanted.
        """
        if doc.html_lang:
            doc.language_signals["html_lang"] = doc.html_lang
        letters = _letters(doc.text, self._limits.min_letters)
        if letters < self._limits.min_letters:
            return Drop(self.name, DropReason.LANGUAGE_UNKNOWN, f"{letters} letters, needs {self._limits.min_letters}")
        answer = self._verdict(doc.text, doc.language_signals)
        if answer is None:
            return Drop(self.name, DropReason.LANGUAGE_UNKNOWN, "no identifier has an answer")
        doc.language, doc.language_score = answer.language, round(answer.certainty, 4)
        return self._decide(doc, answer)

    def _decide(self, doc: Document, answer: Answer) -> Document | Drop:
        if self._wanted and answer.language not in self._wanted:
            return Drop(self.name, DropReason.LANGUAGE_NOT_WANTED, f"{answer.language} ({answer.certainty:.2f})")
        needed = self._min_scores.get(answer.language, self._min_score)
        if answer.certainty < needed:
            detail = f"{answer.language}: {answer.certainty:.2f} < {needed:g}"
            return Drop(self.name, DropReason.LANGUAGE_LOW_SCORE, detail)
        return doc

    def _verdict(self, text: str, signals: dict[str, Any]) -> Answer | None:
        samples = self._samples(text)
        first, *answers = map(self._first.identify, [text, *samples])
        _record(signals, self._first, first)
        answer = first
        if self._second is not None and self._needs_confirmation(text, first):
            second = self._second.identify(text)
            _record(signals, self._second, second)
            answer = merge(first, by_script(second, text[:MAX_CHARS]), self._second.known)
        if answer is None:
            return None
        share, main = self._main_share(samples, answers, answer.language)
        signals["main_share"] = share
        return answer if main == answer.language else Answer(main, share)

    def _needs_confirmation(self, text: str, first: Answer | None) -> bool:
        return (
            first is None
            or first.score < self._limits.confident
            or len(text) < self._limits.short_chars
            or first.language in CONFUSED
        )

    def _main_share(self, parts: list[str], answers: list[Answer | None], language: str) -> tuple[float, str]:
        """Share of the samples in the main language, varieties of it included, and its name.

        `language` unless most samples differ.
        """
        every = [language, *(vote for answer in answers if (vote := self._vote(answer, language)))]
        if every.count(language) == len(every):
            return 1.0, language
        votes = Counter(every)
        main, count = votes.most_common(1)[0]
        if main != language and not (count * 2 > votes.total() and self._is_confirmed(main, parts, language)):
            main = language
        share = sum(votes[code] for code in {main, *KINDRED.get(main, ())}) / votes.total()
        return round(share, 2), main

    def _vote(self, answer: Answer | None, language: str) -> str:
        """The language of a sample; "" where it could be any. An unsure variety of `language` is no other language."""
        if answer is None or answer.certainty < TOSS_UP:
            return ""
        is_twin = TWINS.get(answer.language) == language or TWINS.get(language) == answer.language
        enough = self._limits.confident if is_twin else TOSS_UP
        is_kin = language in KINDRED.get(answer.language, ())
        return language if is_kin and answer.score < enough else answer.language

    def _is_confirmed(self, main: str, parts: list[str], language: str) -> bool:
        """Asks the second identifier before the beginning is overruled: tables of names look like many languages."""
        if self._second is None:
            return True
        second = self._second.identify("\n".join(parts))
        if main in self._second.known:
            return second is not None and second.language == main
        return second is None or second.language != language

    def _samples(self, text: str) -> list[str]:
        """Parts of the text in equal distances; the last is its end, the beginning is left out. None of a short one."""
        limits = self._limits
        if len(text) < limits.sampled_chars:
            return []
        width = min(limits.longest_sample_chars, max(limits.shortest_sample_chars, len(text) // 10))
        step = (len(text) - width) / (limits.samples - 1)
        return [text[round(i * step) : round(i * step) + width] for i in range(1, limits.samples)]


def _letters(text: str, enough: int) -> int:
    """Letters of the first characters; only so many are looked at as it takes to find enough."""
    few = sum(map(str.isalpha, text[: 4 * enough]))
    return few if few >= enough else sum(map(str.isalpha, text[:MAX_CHARS]))


def check_identifier(config: LanguageConfig) -> list[str]:
    """Problems that must stop a crawl before its first request: a model that is not there, languages nobody knows."""
    if config.identifier != "builtin":
        try:
            known = named(config.identifier).known
        except InputError as error:
            return error.problems
        except ValueError as error:
            return [f"LANGUAGE_IDENTIFIER {error}"]
    elif config.languages or config.min_scores:
        known = Py3Langid().known | Langdetect().known
    else:
        return []
    return [
        f"{name}: no identifier knows {code!r}, so that no page could be in it: remove it, or set "
        f"LANGUAGE_IDENTIFIER to a model that knows it"
        for name, codes in (("LANGUAGES", config.languages), ("LANGUAGE_MIN_SCORES", config.min_scores))
        for code in codes
        if normal_code(code.partition(":")[0]) not in known
    ]


_OWN_LETTERS = {
    "ko": re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]"),  # Hangul
    "ja": re.compile("[\u3041-\u30ff\uff66-\uff9f]"),  # kana
}


def by_script(answer: Answer | None, text: str) -> Answer | None:
    """The answer, but Chinese for Korean without Hangul and Japanese without kana.

    langdetect learned its Korean from pages with Chinese characters, and takes Traditional Chinese for it. Of the three
    only Chinese is written in these alone (Unicode's scripts Kore and Jpan).
    """
    letters = _OWN_LETTERS.get(answer.language) if answer else None
    return answer if answer is None or letters is None or letters.search(text) else Answer("zh", answer.score)


def merge(first: Answer | None, second: Answer | None, known: frozenset[str]) -> Answer | None:
    """One verdict of two answers.

    Agreement strengthens, and two varieties of one language agree. A second identifier that does not know the first's
    language (`known`) has no say against it. Where both know and differ, the more confident one wins, at the expense
    of the other's confidence. An undecided first (`TOSS_UP`) gives way to the twin that the second names: more pages
    are written in it.
    """
    if first is None or second is None:
        return first or second
    if first.language == second.language or second.language in KINDRED.get(first.language, ()):
        undecided = first.score < TOSS_UP and TWINS.get(first.language) == second.language
        agreed = 1 - (1 - first.certainty) * (1 - second.certainty)
        return Answer(second.language if undecided else first.language, agreed)
    if first.language not in known:
        return first
    winner, loser = (first, second) if first.certainty >= second.certainty else (second, first)
    return Answer(winner.language, winner.certainty * (1 - loser.certainty / 2))


def _record(signals: dict[str, Any], identifier: Identifier, answer: Answer | None) -> None:
    signals[identifier.name] = [answer.language, round(answer.score, 4)] if answer is not None else None
