"""A text as an extractor wrote it, with what stands where in it; of a text of lines alone these say what they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from crawler.document import Span
from crawler.stages.text.spans import moved_to


@dataclass(frozen=True, slots=True)
class Written:
    """A text, its parts, and the languages of its code, without repetition."""

    text: str = ""
    parts: tuple[Span, ...] = ()
    languages: tuple[str, ...] = ()

    def edited(self, text: str) -> Written:
        """The same with its text changed: the parts follow."""
        return (
            self if text == self.text else replace(self, text=text, parts=tuple(moved_to(text, self.text, self.parts)))
        )


def of_lines(text: str) -> Written:
    """Every line of a plain text is a paragraph."""
    return Written(text, tuple(_paragraphs(text)))


def _paragraphs(text: str) -> Iterator[Span]:
    return ((start, start + len(line), "paragraph") for start, line in lines_of(text))


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Every line with something on it, from its first column, and where it begins; without white space at its end."""
    start = 0
    for line in text.split("\n"):
        if written := line.rstrip():
            yield start, written
        start += len(line) + 1
