"""Our rule sets asked as the oracle is asked, for `eval_rules.py`: first reasons in its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.quality.exact_tokenizers import exact
from crawler.stages.quality.rules.base import SHORT_WORDS, Failure, Page
from crawler.stages.quality.rules.c4 import C4, C4Paragraphs
from crawler.stages.quality.rules.fineweb import DENSE_SCRIPTS, FineWeb
from crawler.stages.quality.rules.gopher_quality import STOP_WORDS, GopherQuality
from crawler.stages.quality.rules.gopher_repetition import GopherRepetition
from crawler.stages.quality.tokenizers import fast

RULES: dict[str, Any] = {
    "gopher_repetition": GopherRepetition(),
    "gopher_quality": GopherQuality(),
    "fineweb": FineWeb(),
    "c4": C4(),
    "c4_terminal": C4(terminal_punctuation=True),
    "c4_paragraphs": C4Paragraphs(),
}
"""What is compared: our thresholds are the oracle's defaults (the `datatrove` profile)."""

MODES = {"exact": exact, "fast": fast}


@dataclass(frozen=True)
class Judged:
    """One document, one rule set: the oracle's first reason, ours in both modes ("" = kept)."""

    name: str
    language: str
    rules: str
    oracle: str
    ours: dict[str, str]
    exact: bool
    """True where the exact mode has the oracle's tokenizer for the language."""


def conditions() -> dict[str, Any]:
    """What the oracle is told: our stop words, and the rules that are off for a language."""
    return {
        "stop_words": {code: sorted(words) for code, words in STOP_WORDS.items()},
        "no_word_length": sorted(SHORT_WORDS),
        "no_short_lines": sorted(DENSE_SCRIPTS),
    }


def in_the_oracles_words(failure: Failure | None) -> str:
    """datatrove's string for our reason."""
    if failure is None:
        return ""
    reason = failure.reason.value
    if reason in {"top_n_gram", "dup_n_gram"}:
        n = failure.detail.removeprefix("n=").partition(":")[0]
        return f"top_{n}_gram" if reason == "top_n_gram" else f"duplicated_{n}_n_grams"
    if reason == "c4_too_few_paragraphs":
        return "< 3 paragraphs"
    return reason.removeprefix("fineweb_").removeprefix("c4_")


def compare(documents: Iterable[dict[str, Any]], answers: dict[str, dict[str, Any]]) -> Iterator[Judged]:
    """Every rule set on every document that the oracle judged."""
    for record in documents:
        verdicts = answers[record["id"]].get("verdicts")
        if verdicts is not None:
            yield from _judge(record["id"], record["language"], record["text"], verdicts)


def _judge(name: str, language: str, text: str, verdicts: dict[str, str]) -> Iterator[Judged]:
    pages = {mode: Page(text, language, count(language)) for mode, count in MODES.items()}
    exact = pages["exact"].counter.name not in {"fast", "pieces"}
    for rules, oracle in verdicts.items():
        found = {mode: RULES[rules].judge(page) for mode, page in pages.items()}
        ours = {mode: in_the_oracles_words(each.failure) for mode, each in found.items()}
        yield Judged(name, language, rules, oracle, ours, exact)
