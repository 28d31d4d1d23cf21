"""What a quality rule sees (`Page`) and what it answers (`Findings`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from crawler.document import DropReason
from crawler.stages.quality.punctuation import PUNCTUATION
from crawler.stages.quality.tokenizers import Tokenizer, fast
from crawler.stages.text.words import UNSPACED

SHORT_WORDS = UNSPACED | {"ko", "vi"}
"""Languages whose words have around or below three characters in ordinary prose, in the oracle's count."""


@dataclass(frozen=True)
class Page:
    """A text with its tokens and lines, each computed at most once however many rules ask."""

    text: str
    language: str = "en"
    tokenizer: Tokenizer | None = None
    """None = the fast one of the language."""

    @cached_property
    def counter(self) -> Tokenizer:
        """Who counts words and sentences."""
        return self.tokenizer or fast(self.language)

    @cached_property
    def tokens(self) -> list[str]:
        """Tokens as the oracle counts them: punctuation marks included."""
        return self.counter.words(self.text)

    @cached_property
    def words(self) -> list[str]:
        """Tokens with at least one character that is no punctuation."""
        return [t for t in self.tokens if t.isalnum() or not PUNCTUATION.issuperset(t)]

    @cached_property
    def lines(self) -> list[str]:
        """Lines with something on them, split at line feeds."""
        return [line for line in self.text.split("\n") if line.strip()]

    @property
    def unspaced(self) -> bool:
        """True for languages written without spaces: tokens are no words there, or estimated ones."""
        return self.language in UNSPACED

    @property
    def short_words(self) -> bool:
        """True where a mean word length says nothing."""
        return self.language in SHORT_WORDS


@dataclass(frozen=True)
class Failure:
    """The first rule a page fails."""

    reason: DropReason
    detail: str


@dataclass
class Findings:
    """All values a rule set measured, and the first failure in the order of the oracle."""

    values: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Rules that make no sense for the language: rule → why."""
    failure: Failure | None = None
    text: str | None = None
    """The corrected text, for rule sets that cut lines; None = unchanged."""

    def fail(self, reason: DropReason, detail: str = "") -> None:
        """Record a failure; only the first counts."""
        self.failure = self.failure or Failure(reason, detail)

    def above(self, name: str, value: float, limit: float | None, reason: DropReason, detail: str = "") -> None:
        """Store `value`; fail where it is above `limit` (strictly; None = never)."""
        self.values[name] = round(value, 4)
        if limit is not None and value > limit:
            self.fail(reason, detail or f"{name} {value:.4g} > {limit:g}")

    def below(self, name: str, value: float, limit: float | None, reason: DropReason) -> None:
        """Store `value`; fail where it is below `limit` (strictly; None = never)."""
        self.values[name] = round(value, 4)
        if limit is not None and value < limit:
            self.fail(reason, f"{name} {value:.4g} < {limit:g}")


class RuleSet(Protocol):
    """A frozen dataclass of thresholds."""

    def judge(self, page: Page) -> Findings:
        """Measure everything, then decide."""
        ...


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
