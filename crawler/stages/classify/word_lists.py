"""How much of a text stands on a list of words: the share of its words, and which different terms of the list.

Terms are whole words or runs of words, letter case aside; in scripts without spaces they may stand anywhere.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import regex

from crawler.config.word_lists import C4, Category, read_categories
from crawler.document import Document
from crawler.problems import InputError
from crawler.stages.text.words import count_words

_WORD = regex.compile(r"[\p{L}\p{N}\p{M}_]+")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")
NAMED = 3


@dataclass(frozen=True, slots=True)
class Found:
    """density: share of the text's words, 0–1; terms: different terms of the list, those that occur most first."""

    density: float
    terms: tuple[str, ...]


class WordList:
    """The terms of one category. Raises: InputError where a file cannot be read, or has no term."""

    def __init__(self, category: Category) -> None:
        self.category = category
        self._runs: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        self._anywhere: list[str] = []
        for term in sorted({term for file in category.files for term in _terms(file)}):
            if _UNSPACED.search(term):
                self._anywhere.append(term)
            elif words := tuple(_WORD.findall(term)):
                self._runs[words[0]].append(words)
        if not self._runs and not self._anywhere:
            raise InputError([f"{category.name}: no term in {', '.join(map(str, category.files))}"])

    def find(self, text: str) -> Found:
        """What of the list the text has."""
        plain = _plain(text)
        words = _WORD.findall(plain)
        times: Counter[str] = Counter()
        covered = 0
        for at, word in enumerate(words):
            for run in self._runs.get(word, ()):
                if tuple(words[at : at + len(run)]) == run:
                    times[" ".join(run)] += 1
                    covered += len(run)
        for term in self._anywhere:
            if count := plain.count(term):
                times[term] += count
                covered += count * max(1, count_words(term))
        total = max(1, count_words(text))
        return Found(min(1.0, covered / total), tuple(term for term, _ in times.most_common()))


class WordLists:
    """All categories of one file, under the name that CLASSIFIERS gives it. Raises: InputError."""

    def __init__(self, name: str, path: str) -> None:
        self._name = name
        self._lists = [WordList(category) for category in read_categories(path)]

    def look(self, text: str, language: str | None) -> Iterator[tuple[str, Category, Found]]:
        """Name of the score, category and what was found, for each category that is for texts of this language."""
        for one in self._lists:
            if language in one.category.languages:
                yield f"{self._name}_{one.category.name}", one.category, one.find(text)

    def score(self, doc: Document) -> str:
        """Note the scores of a text; what it has to wait for, empty where nothing.

        A category's score is its density; that of C4's rule 1 where the rule would have dropped the text. A category
        that is not for the text's language has none.
        """
        held = []
        for name, category, found in self.look(doc.text, doc.language):
            is_over = len(found.terms) >= category.terms and found.density >= category.density
            doc.classifier_scores[name] = float(is_over) if category.name == C4 else round(found.density, 6)
            doc.unwanted.append(name)
            if is_over and category.action == "hold":
                named = ", ".join(found.terms[:NAMED])
                held.append(f"{name}: {found.density:.4f} of the words, {len(found.terms)} different terms ({named})")
        return "; ".join(held)


def _terms(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError([f"{path}: cannot be read ({why}); expected a term a line"]) from None
    return [term for line in lines if (term := " ".join(_plain(line.partition("#")[0]).split()))]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
