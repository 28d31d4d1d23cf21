"""Third text stage: which language is it in? Two identifiers, one verdict, both answers on the record.

The script of the letters says which languages it can be. Of these py3langid answers first. langdetect confirms where
the first is not confident, the text is short, or the language is one of a family that identifiers confuse. A language
that neither knows is "und" (`openset.py`). The HTML `lang` attribute is recorded as evidence and never decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from crawler.config import LanguageConfig
from crawler.document import Document, Drop, DropReason
from crawler.stages.language.codes import Scores, tag
from crawler.stages.language.identifiers import (
    KINDRED,
    MAX_CHARS,
    Answer,
    Choosing,
    Identifier,
    Langdetect,
    Py3Langid,
    named,
)
from crawler.stages.language.openset import UNKNOWN, OpenSet
from crawler.stages.language.scripts import A_FEW, WRITTEN, chinese, only, script_of

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a text: the answer, and the shares of its parts by language, the greatest first."""

    answer: Answer
    shares: tuple[tuple[str, float], ...]
    script: str


class LanguageStage:
    """Sets `language`, `language_script`, `language_score`, `languages` and `language_signals`."""

    name: ClassVar[str] = "language"

    def __init__(
        self,
        config: LanguageConfig,
        first: Identifier | None = None,
        second: Identifier | None = None,
        thresholds: Thresholds | None = None,
        open_set: OpenSet | None = None,
    ) -> None:
        """Load the models. `LANGUAGES` may spell codes in any usual way ("zh-CN", "zho_Hant", "nb").

        An identifier that `LANGUAGE_IDENTIFIER` names answers alone: it needs no confirmation by smaller ones.
        """
        self._wanted = [tag(code) for code in config.languages]
        self._scores = Scores(config.min_score, config.min_scores)
        if first is None and config.identifier != "builtin":
            first = named(config.identifier)
        elif second is None:
            second = Langdetect()
        self._first, self._second = first or Py3Langid(), second
        self._open_set = open_set or _open_set(self._first, second)
        self._limits = thresholds or Thresholds()

    def __call__(self, doc: Document) -> Document | Drop:
        """Identify the language of `doc.text`. One that no identifier knows is "und", without a score.

        Drops: language_unknown (too few letters, or no answer), language_low_score, language_not_wanted.
        """
        if doc.html_lang:
            doc.language_signals["html_lang"] = doc.html_lang
        letters = _letters(doc.text, self._limits.min_letters)
        if letters < self._limits.min_letters:
            return Drop(self.name, DropReason.LANGUAGE_UNKNOWN, f"{letters} letters, needs {self._limits.min_letters}")
        verdict = self._verdict(doc.text, doc.language_signals)
        if verdict is None:
            return Drop(self.name, DropReason.LANGUAGE_UNKNOWN, "no identifier has an answer")
        answer = verdict.answer
        doc.language, doc.language_script = answer.language, verdict.script or None
        doc.language_score = None if answer.language == UNKNOWN else round(answer.certainty, 4)
        doc.languages = [{"language": code, "share": share} for code, share in verdict.shares]
        return self._decide(doc, answer)

    def _decide(self, doc: Document, answer: Answer) -> Document | Drop:
        if self._wanted and not any(one.names(answer.language, doc.language_script) for one in self._wanted):
            script = f"-{doc.language_script}" if any(one.language == answer.language for one in self._wanted) else ""
            detail = f"{answer.language}{script} ({answer.certainty:.2f})"
            return Drop(self.name, DropReason.LANGUAGE_NOT_WANTED, detail)
        needed = self._scores.needed(answer.language, doc.language_script)
        if answer.language != UNKNOWN and answer.certainty < needed:
            detail = f"{answer.language}: {answer.certainty:.2f} < {needed:g}"
            return Drop(self.name, DropReason.LANGUAGE_LOW_SCORE, detail)
        return doc

    def _verdict(self, text: str, signals: dict[str, Any]) -> Verdict | None:
        parts = self._samples(text)
        first, *answers = (self._ask(self._first, part) for part in (text, *parts))
        _record(signals, self._first, first)
        answer = first
        if self._second is not None and self._needs_confirmation(text, first):
            second = self._ask(self._second, text)
            _record(signals, self._second, second)
            answer = merge(first, second, self._second.known)
        if answer is None:
            return None
        votes = self._votes(answers, answer.language)
        main, shares = self._shares(parts, votes, answer.language)
        spoken = [part for part, vote in zip(parts, votes, strict=True) if vote == main]
        evidence = text if main == answer.language else "\n".join(spoken)
        if main != answer.language:
            answer = Answer(main, shares[0][1])
        if self._open_set and main != UNKNOWN and self._open_set.is_unknown(evidence, main):
            unknown = [UNKNOWN if self._open_set.is_unknown(p, v) else v for p, v in zip(parts, votes, strict=True)]
            answer, shares = Answer(UNKNOWN, 1.0), _of_parts([UNKNOWN if one == main else one for one in unknown])
        signals["main_share"] = shares[0][1]
        return Verdict(answer, shares, _written(evidence, answer.language))

    def _ask(self, identifier: Identifier, text: str) -> Answer | None:
        """What an identifier says of the letters of the main script, out of the languages that are written in it."""
        head = text[:MAX_CHARS]
        script = script_of(head)
        if script.code not in ("", "Latn") and script.share < 1 - A_FEW:
            head = only(head, script.code)
        if not isinstance(identifier, Choosing) or not script.code:
            return identifier.identify(head)
        written = WRITTEN.get(script.code)
        return identifier.choose(head, written) if written else Answer(UNKNOWN, script.share)

    def _needs_confirmation(self, text: str, first: Answer | None) -> bool:
        return (
            first is None
            or first.score < self._limits.confident
            or len(text) < self._limits.short_chars
            or first.language in CONFUSED
        )

    def _votes(self, answers: Sequence[Answer | None], language: str) -> list[str]:
        return [self._vote(answer, language) for answer in answers]

    def _shares(self, parts: list[str], votes: list[str], language: str) -> tuple[str, tuple[tuple[str, float], ...]]:
        """The main language, and the share of the samples in each, varieties of the main one counted as that.

        It is `language` unless most samples differ.
        """
        every = [language, *filter(None, votes)]
        if every.count(language) == len(every):
            return language, ((language, 1.0),)
        counts = Counter(every)
        main, count = counts.most_common(1)[0]
        if main != language and not (count * 2 > counts.total() and self._is_confirmed(main, parts, language)):
            main = language
        kin = KINDRED.get(main, frozenset())
        own = Counter({main: 0})
        for code, number in counts.items():
            own[main if code in kin else code] += number
        return main, _shares_of(own, main)

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
        second = self._ask(self._second, "\n".join(parts))
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


def _open_set(first: Identifier, second: Identifier | None) -> OpenSet | None:
    """What the built-in identifiers do not know; of another package's nobody knows how sure it is of a neighbour."""
    both = (first, second)
    return OpenSet(first.known | second.known) if second and all(isinstance(one, Choosing) for one in both) else None


def _letters(text: str, enough: int) -> int:
    """Letters of the first characters; only so many are looked at as it takes to find enough."""
    few = sum(map(str.isalpha, text[: 4 * enough]))
    return few if few >= enough else sum(map(str.isalpha, text[:MAX_CHARS]))


def _of_parts(votes: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """The shares of a text that begins in a language nobody knows."""
    return _shares_of(Counter([UNKNOWN, *filter(None, votes)]), UNKNOWN)


def _shares_of(own: Counter[str], main: str) -> tuple[tuple[str, float], ...]:
    ordered = sorted(own, key=lambda code: (code != main, -own[code], code))
    return tuple((code, round(own[code] / own.total(), 2)) for code in ordered)


def _written(text: str, language: str) -> str:
    """The script of a text; of Chinese which one."""
    script = script_of(text[:MAX_CHARS]).code
    return chinese(text[:_CHINESE_CHARS]) if language == "zh" and script == "Hani" else script


_CHINESE_CHARS = 5_000


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
    score = None if answer is None else round(answer.score, 4)
    signals[identifier.name] = [] if answer is None else [{"language": answer.language, "share": score}]
