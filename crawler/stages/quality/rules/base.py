"""What a quality rule sees (`Page`), what its thresholds are (`limit`, `Limit`) and what it answers (`Findings`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import Any, ClassVar

from crawler.document import Reason, Span
from crawler.stages.quality.entries import entries_in
from crawler.stages.quality.ngrams import Ints
from crawler.stages.quality.punctuation import UNMARKED, ends_a_sentence, has_an_end
from crawler.stages.quality.speech import speech_in
from crawler.stages.quality.tokenizers import Tokenizer, fast
from crawler.stages.quality.vocabulary import Vocabulary, vocabulary
from crawler.stages.text.spans import moved, moved_to, without_spans
from crawler.stages.text.words import UNSPACED, count_words

TABLE_BAR = " | "
"""What the extraction writes between two cells of a row."""

SENTENCE_WORDS = 8
"""Words from which a line with terminal punctuation is one of sentences, and up to which an item of a list is short."""
LONG_WORDS = 25
"""Words from which a line is one of sentences where one of them ends within it: a quotation with its source behind."""
_ITEM = re.compile(r"\s*(?:[-•*]|-?\d{1,5}\.|[A-Za-z]{1,3}\.)\s")

SHORT_WORDS = UNSPACED | {"ko", "vi"}
"""Languages whose words have around or below three characters in ordinary prose, in the oracle's count."""


UNMARKED_WORDS = 12
"""Words from which a line of a language without marks for the end of a sentence is one of sentences."""


def _has_sentences(line: str, words: int, language: str) -> bool:
    if words < SENTENCE_WORDS:
        return False
    if language in UNMARKED and words >= UNMARKED_WORDS:
        return True
    return ends_a_sentence(line.rstrip(), language) or (words >= LONG_WORDS and has_an_end(line, language))


def is_short_item(line: str) -> bool:
    """True for an item of a list, with its sign or number, that is no sentence: "- 500 g flour"."""
    return _ITEM.match(line) is not None and count_words(line) <= SENTENCE_WORDS + 1


@dataclass(frozen=True)
class Page:
    """A text with its tokens and lines, each computed at most once however many rules ask."""

    text: str
    language: str = "en"
    tokenizer: Tokenizer | None = None
    """None = the fast one of the language."""
    parts: tuple[Span, ...] = ()
    """What stands where in the text (`crawler.document.LEVELS`); none: nothing is known of it."""

    @cached_property
    def counter(self) -> Tokenizer:
        """Who counts words and sentences."""
        return self.tokenizer or fast(self.language)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What is known of the tokens."""
        return vocabulary()

    @cached_property
    def _read(self) -> tuple[Ints, str]:
        return self.vocabulary.read(self.counter, self.text)

    @property
    def numbers(self) -> Ints:
        """The tokens by their numbers in the vocabulary, as the oracle counts them: punctuation marks included."""
        return self._read[0]

    @property
    def joined(self) -> str:
        """The tokens with nothing between them."""
        return self._read[1]

    @cached_property
    def words(self) -> Ints:
        """The part of `numbers` that are words: tokens with at least one character that is no punctuation."""
        return self.numbers[self.vocabulary.are_words[self.numbers]]

    @property
    def number_of_tokens(self) -> int:
        """How many tokens stand there."""
        return len(self.numbers)

    @property
    def number_of_words(self) -> int:
        """How many words stand there."""
        return len(self.words)

    @cached_property
    def lines(self) -> list[str]:
        """Lines with something on them, split at line feeds."""
        return [line for line in self.text.split("\n") if line.strip()]

    @cached_property
    def without_rows(self) -> Page:
        """The page without the rows of its tables."""
        return self._only(line for line in self.text.split("\n") if TABLE_BAR not in line)

    @cached_property
    def running(self) -> Page:
        """The page without rows and without short items of lists: what is written in lines of their own."""
        lines = self.text.split("\n")
        return self._only(line for line in lines if TABLE_BAR not in line and not is_short_item(line))

    @cached_property
    def prose(self) -> Page:
        """The page without its blocks of code, and without the fences that Markdown has around them."""
        return self.without("code")

    def without(self, *labels: str) -> Page:
        """The page without the parts of these labels; itself where it has none. Any of `crawler.document.LEVELS`."""
        gone = [(start, end) for start, end, label in self.parts if label in labels]
        if not gone:
            return self
        text, edits = without_spans(self.text, gone)
        return Page(text, self.language, self.tokenizer, tuple(moved(self.parts, edits, text)))

    def cleaned(self, text: str) -> Page:
        """The page with the text that a rule set has made of its own."""
        return Page(text, self.language, self.tokenizer, tuple(moved_to(text, self.text, self.parts)))

    def views(self) -> Iterator[tuple[Page, str]]:
        """The page without what rules about prose say nothing about, where enough is left, and what that is."""
        for view, what in (
            (self.prose, "code"),
            (self.without("code", "quotation", "user"), "quotations and names"),
            (self.said, "times and speakers"),
            (self.entries, "names, terms and figures of entries"),
        ):
            if self._is_enough(view):
                yield view, what

    def _is_enough(self, view: Page) -> bool:
        return view is not self and view.number_of_words >= max(LEAST_WORDS, LEAST_PROSE * self.number_of_words)

    @cached_property
    def said(self) -> Page:
        """What is said in a transcript, a play or an interview; itself for any other text."""
        speech = speech_in(self.text, self.language)
        if speech is None:
            return self
        said = Page(speech.text, self.language, self.tokenizer)
        return said if said.sentences[0] >= LEAST_SAID else self

    @cached_property
    def entries(self) -> Page:
        """What the entries of a chat, a glossary or a bibliography say; itself for any other text."""
        said = entries_in(self.text, self.language)
        return Page(said, self.language, self.tokenizer) if said else self

    def _only(self, lines: Iterable[str]) -> Page:
        return Page("\n".join(lines), self.language, self.tokenizer)

    @cached_property
    def sentences(self) -> tuple[float, int]:
        """Share and number of the words (`count_words`) in lines of sentences, each counted once, rows left out."""
        seen, found, total = set[str](), 0, 0
        for line in self.lines:
            words = count_words(line)
            total += words
            if TABLE_BAR not in line and _has_sentences(line, words, self.language):
                found += words * (line not in seen)
                seen.add(line)
        return found / max(total, 1), found

    @property
    def unspaced(self) -> bool:
        """True for languages written without spaces: tokens are no words there, or estimated ones."""
        return self.language in UNSPACED

    @property
    def short_words(self) -> bool:
        """True where a mean word length says nothing."""
        return self.language in SHORT_WORDS


@dataclass(frozen=True, slots=True)
class Limit:
    """One threshold of a rule set: the only place that knows what it judges, in which direction, and why.

    field: its name in the rule set, with [n] where it holds one limit for each n. value: None = off. signal: the number
    in `quality_signals` that it judges. above: True where more is dropped, else less. unit and source are for people.
    """

    field: str
    value: float | None
    signal: str
    above: bool
    reason: Reason
    unit: str
    source: str
    n: int | None = None

    def is_missed_by(self, value: float) -> bool:
        """True where a value is on the wrong side (strictly)."""
        if self.value is None:
            return False
        return value > self.value if self.above else value < self.value

    def detail(self, value: float) -> str:
        """What is said of a value that misses it, in as many digits as it takes to see that it does."""
        if self.n is not None:
            return f"n={self.n}: {self._apart(value, '.3f', '.6f')} > {self.value:g}"
        return f"{self.signal} {self._apart(value, '.4g', '.7g')} {'>' if self.above else '<'} {self.value:g}"

    def _apart(self, value: float, *forms: str) -> str:
        written = (format(value, form) for form in forms)
        return next((text for text in written if float(text) != self.value), repr(value))


def limit(default: Any, *judges: tuple[str, Reason], above: bool, unit: str, source: str = "") -> Any:
    """Declare a threshold of a rule set: its default, and the signals it judges with the reason each gives.

    The default may be pairs (n, limit); a signal's name then says where n goes (`top_{n}_gram`). Limits decide in the
    order of their declaration. `source`: where the number comes from, if not where the rule set's others do.
    """
    return field(default=default, metadata={"judges": judges, "above": above, "unit": unit, "source": source})


@cache
def limits_of(rules: RuleSet) -> tuple[Limit, ...]:
    """Every threshold of a rule set, in the order they decide; those that are off included."""
    return tuple(_limits(rules))


def _limits(rules: RuleSet) -> Iterator[Limit]:
    for f in fields(rules):
        if "judges" not in f.metadata:
            continue
        above, unit, source = f.metadata["above"], f.metadata["unit"], f.metadata["source"] or rules.source
        for signal, reason in f.metadata["judges"]:
            value = getattr(rules, f.name)
            if isinstance(value, tuple):
                for n, bound in value:
                    yield Limit(f"{f.name}[{n}]", bound, signal.format(n=n), above, reason, unit, source, n)
            else:
                yield Limit(f.name, value, signal, above, reason, unit, source)


@dataclass(frozen=True)
class Failure:
    """The first rule a page fails."""

    reason: Reason
    detail: str


@dataclass
class Findings:
    """All values a rule set measured, and the first failure in the order of the oracle."""

    values: dict[str, float] = field(default_factory=dict)
    """To four places, as the record has them; what decides is the value itself."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Rules that make no sense for the language: rule → why."""
    failure: Failure | None = None
    text: str | None = None
    """The corrected text, for rule sets that cut lines; None = unchanged."""
    _exact: dict[str, float] = field(default_factory=dict, repr=False)

    def fail(self, reason: Reason, detail: str = "") -> None:
        """Record a failure; only the first counts."""
        self.failure = self.failure or Failure(reason, detail)

    def measure(self, signal: str, value: float) -> None:
        """Store what was measured."""
        self._exact[signal] = value
        self.values[signal] = round(value, 4)

    def excuse(self, rules: RuleSet, signals: Container[str], why: Callable[[], str]) -> None:
        """Skip the limits of these signals that are missed, for a reason; none where `why` answers "".

        What is not measured misses none: the record says that it was skipped, and what was found.
        """
        for bound in limits_of(rules):
            value = self._exact.get(bound.signal)
            if bound.signal in signals and value is not None and bound.is_missed_by(value) and (said := why()):
                del self._exact[bound.signal], self.values[bound.signal]
                self.skipped[bound.reason.value] = f"{bound.detail(value)}, but {said}"

    def measured_by(self, rules: RuleSet) -> Iterator[tuple[Limit, float]]:
        """Every limit that is on, with the exact value that it judges."""
        for bound in limits_of(rules):
            value = self._exact.get(bound.signal)
            if value is not None and bound.value is not None:
                yield bound, value

    def missed_by(self, rules: RuleSet) -> list[tuple[Limit, float]]:
        """Those of them that are missed, in the order they decide."""
        return [(bound, value) for bound, value in self.measured_by(rules) if bound.is_missed_by(value)]

    def misses(self, rules: RuleSet, signals: Container[str]) -> bool:
        """True where one of these signals is on the wrong side of its limit."""
        return any(bound.signal in signals for bound, _ in self.missed_by(rules))

    def decide(self, rules: RuleSet) -> Findings:
        """Fail at the first limit that a value misses; what was not measured misses none."""
        for bound, value in self.missed_by(rules):
            self.fail(bound.reason, bound.detail(value))
        return self


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A declared rule set: a frozen dataclass of thresholds, each declared with `limit` where a number decides.

    An instance with its defaults is what another package names in the entry-point group `gristmill.rules`.
    """

    name: ClassVar[str]
    """What `QUALITY_RULES` calls it."""
    source: ClassVar[str]
    """Paper and implementation that the numbers are from."""
    reasons: ClassVar[tuple[Reason, ...]] = ()
    """What it says of the pages it rejects; of another package's rule set each is made by `reason`."""

    def judge(self, page: Page) -> Findings:
        """Measure everything, then decide."""
        raise NotImplementedError


def reason(name: str, meaning: str) -> Reason:
    """A verdict of the quality stage that another package declares. meaning: the sentence for people."""
    return Reason(name, meaning, group="quality", keeps_text=True)


LEAST_SAID = 0.5
"""Share of the words in sentences, from which what stands between times or names is speech."""
LEAST_WORDS = 50
"""Words that are left of a page, from which it is judged without its rows, items or code."""
LEAST_PROSE = 0.2
"""Share of the words that are left, from which a page is judged without its code: a remark on a long log is none."""
LEAST_SENTENCE_WORDS = 150
"""Words in lines of sentences, from which what stands beside them does not condemn a page."""


def judge_prose(page: Page, judge: Callable[[Page], Findings]) -> Findings:
    """What a rule set finds on a page, or where that fails, on the page without what it says nothing about.

    That is its code; then its code, quotations and names of users, which a thread repeats; then the times and names of
    speakers in speech that is written down; then what begins the entries of a chat, a glossary or a bibliography. The
    record says what was forgiven.
    """
    found = judge(page)
    if found.failure is None:
        return found
    for view, what in page.views():
        again = judge(view)
        if again.failure is None:
            again.skipped.setdefault(found.failure.reason.value, f"{found.failure.detail}, but only with its {what}")
            return again
    return found


def mostly_sentences(page: Page, share: float | None) -> str:
    """Why a page is forgiven the shape of its other lines; "" where it is not. None: never."""
    if share is None:
        return ""
    found, words = page.sentences
    return f"{found:.0%} of the words stand in sentences" if found >= share and words >= LEAST_SENTENCE_WORDS else ""


def duplicates(items: Iterable[str]) -> tuple[int, int]:
    """Number and characters of the items that stood before (repeats after the first)."""
    seen: set[str] = set()
    count = chars = 0
    for item in items:
        if item in seen:
            count += 1
            chars += len(item)
        else:
            seen.add(item)
    return count, chars
