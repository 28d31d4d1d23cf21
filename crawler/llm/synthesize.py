"""`gristmill llm synthesize`: texts in the style of pages, for languages and domains that have few.

A text is refused where it copies: where it shares a run of `COPIED` words with any page that goes out, or nearly all of
it stands in one. That bound is of the literature on memorisation (Carlini et al. 2023, arXiv:2202.07646: 50 tokens)
made stricter; a shared name or a set phrase is shorter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from crawler.llm.model import Request
from crawler.llm.prompt import check_length, request_of, version_of
from crawler.llm.synthetic import COMMON_REFUSALS, Draft, Origin
from crawler.stages.contamination.ngrams import cut
from crawler.stages.text.words import count_words
from crawler.storage.files.records import Record

COPIED = 13
"""Words in a row; in scripts without spaces the characters of as many words."""
LEAST_WORDS = 20
COPY, SHORT = "copies_a_page", "too_short"
REFUSALS = {
    COPY: f"it shares {COPIED} words in a row with a page that was sent",
    SHORT: "it says hardly anything",
    **COMMON_REFUSALS,
}
"""Of each reason why a text is not taken, for people."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"subject": {"type": "string"}, "text": {"type": "string"}},
    "required": ["subject", "text"],
    "additionalProperties": False,
}
_INSTRUCTIONS = """You write a new text of about {words} words in the language, kind and style of a sample. This is \
text {number} of {of} after this sample: choose a subject of the same field that the sample does not treat and that \
others would hardly choose.

Take no sentence and no longer phrase from the sample, and no person, company, address or figure. State as fact only \
what is generally known. Give the subject first, in a few words, then the text.{topic}"""


@dataclass(slots=True)
class Synthesize:
    """`count` texts after each page. most_chars: of a page that are sent. words: of a text, about."""

    count: int
    words: int
    most_chars: int
    most_tokens: int
    model: str
    topic: str = ""
    reviewer: str = ""
    operation: str = "synthesize"
    _copied: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))

    @property
    def name(self) -> str:
        """Of the kind of texts."""
        return "texts"

    @property
    def version(self) -> str:
        """Of wording and schema."""
        return version_of(self._instructions(0), SCHEMA)

    @property
    def check_version(self) -> str:
        """Nothing is asked about the texts."""
        return ""

    @property
    def parameters(self) -> dict[str, Any]:
        """For the manifest."""
        said = {"texts": self.count, "words": self.words, "max_chars": self.most_chars, "copied": COPIED}
        return said | ({"topic": self.topic} if self.topic else {})

    @property
    def origin(self) -> Origin:
        """How the texts are marked."""
        return Origin("text", self.model, self.version, self.reviewer)

    def _instructions(self, number: int) -> str:
        topic = f"\n\nThe field is: {self.topic}" if self.topic else ""
        text = _INSTRUCTIONS.format(words=self.words, number=number, of=self.count, topic=topic)
        check_length(text)
        return text

    def requests(self, record: Record) -> Sequence[Request]:
        """One for each text."""
        text = record["text"][: self.most_chars]
        numbers = range(1, self.count + 1)
        return [request_of(self._instructions(number), text, SCHEMA, self.most_tokens) for number in numbers]

    def checks(self, record: Record, answers: Sequence[Any]) -> Sequence[Request]:  # noqa: ARG002  # the protocol's
        """None."""
        return ()

    def learn(self, records: Iterable[Record]) -> None:
        """Read the pages that texts may not copy: 8 bytes of memory a word."""
        found = [_grams(record["text"]) for record in records]
        self._copied = np.unique(np.concatenate(found)) if found else self._copied

    def drafts(
        self,
        record: Record,  # noqa: ARG002  # the protocol's
        answers: Sequence[Any],
        checked: Sequence[Any],  # noqa: ARG002
        refused: Counter[str],
    ) -> Iterator[Draft]:
        """The texts that copy nothing."""
        for answer in answers:
            text = answer["text"].strip()
            if count_words(text) < LEAST_WORDS:
                refused[SHORT] += 1
            elif np.isin(_grams(text), self._copied, assume_unique=True).any():
                refused[COPY] += 1
            else:
                yield Draft(text, text, {"synthetic_subject": answer["subject"].strip()})


def _grams(text: str) -> npt.NDArray[np.uint64]:
    found = [grams.hashes for grams in cut(text, COPIED)]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.uint64)
