"""`gristmill llm questions`: questions about a page, each with its answer and the passage that it rests on.

A pair counts only where its passage stands in the page, the answer's numbers stand in the passage, and a second call
that sees nothing but passage and question gives the same answer. Source of the measure of "the same": F1 of words,
Rajpurkar et al. 2016, arXiv:1606.05250, 6.1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crawler.llm.extract import windows
from crawler.llm.model import Request
from crawler.llm.prompt import request_of, version_of
from crawler.llm.spans import Span, span_of
from crawler.llm.synthetic import COMMON_REFUSALS, Draft, Origin
from crawler.stages.text.units import tokens
from crawler.storage.files.records import Record

KINDS = ("fact", "number", "definition", "reason", "procedure", "comparison", "summary")
DIFFICULTIES = ("easy", "medium", "hard")
CHECK_TOKENS = 512
"""Of the answer to a check, at most."""
AGREES = 0.5
"""F1 of words from which two answers are one."""
UNFOUND, UNSUPPORTED, UNANSWERABLE = "passage_not_in_page", "number_not_in_passage", "not_answerable"
YES_NO, DISAGREES, UNCHECKED, EMPTY, BEYOND = "yes_or_no", "another_answer", "unchecked", "empty", "beyond"
REFUSALS = {
    UNFOUND: "the passage does not stand in the page",
    UNSUPPORTED: "the answer has a number that the passage has not",
    YES_NO: "it asks for yes or no",
    UNANSWERABLE: "the passage alone does not answer it",
    DISAGREES: "the passage alone gives another answer",
    UNCHECKED: "the check got no answer; --again asks anew",
    BEYOND: "beyond --questions",
    EMPTY: "question or answer is empty",
    **COMMON_REFUSALS,
}
"""Of each reason why a pair is not taken, for people."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pairs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "passage": {"type": "string"},
                    "question": {"type": "string"},
                    "answer": {"type": "string"},
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "difficulty": {"type": "string", "enum": list(DIFFICULTIES)},
                },
                "required": ["passage", "question", "answer", "kind", "difficulty"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["pairs"],
    "additionalProperties": False,
}
CHECK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "answer": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "yes_or_no": {"type": "boolean"},
    },
    "required": ["answer", "yes_or_no"],
    "additionalProperties": False,
}
_INSTRUCTIONS = """You write questions about a text of a web page, in the language of the text: up to {most}, each \
about something else, fewer where the text says little.

For each give first the passage that answers it, one or a few sentences copied from the text letter by letter. Then \
the question, which names what it is about and can be understood without the text. Then the answer, as the passage \
gives it and no longer than needed. Then its kind and its difficulty. Never ask what yes or no would answer, nor about \
the page itself, its menus or its author's opinions of it."""
_CHECK = """You answer a question from a passage, and from nothing else that you know. The passage stands first, the \
question after the line QUESTION.

Give the answer in the language of the question, as short as the passage allows; null where the passage does not say \
it. Say with yes_or_no whether yes or no would answer the question."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Questions:
    """Up to `most` questions for each window of `size` characters."""

    most: int
    size: int
    most_tokens: int
    model: str
    reviewer: str = ""
    operation: str = "questions"
    name: str = "questions"

    @property
    def instructions(self) -> str:
        """What the model is told."""
        return _INSTRUCTIONS.format(most=self.most)

    @property
    def version(self) -> str:
        """Of wording and schema."""
        return version_of(self.instructions, SCHEMA)

    @property
    def check_version(self) -> str:
        """Of the check."""
        return version_of(_CHECK, CHECK_SCHEMA)

    @property
    def parameters(self) -> dict[str, Any]:
        """For the manifest."""
        return {"most": self.most, "window": self.size}

    @property
    def origin(self) -> Origin:
        """How the pairs are marked."""
        return Origin("question", self.model, self.version, self.reviewer)

    def requests(self, record: Record) -> Sequence[Request]:
        """One for each window."""
        spans = windows(record["text"], self.size)
        return [self._request(record["text"][begin:end]) for begin, end in spans]

    def learn(self, records: Iterable[Record]) -> None:
        """Nothing: a pair may say what its page says."""

    def checks(self, record: Record, answers: Sequence[Any]) -> Sequence[Request]:
        """One for each pair that stands so far: its passage, as the page has it, and its question."""
        found = []
        for pair, span in _pairs(record, answers, self.most):
            if isinstance(span, tuple):
                passage = record["text"][slice(*span)]
                asked = f"{passage}\n\nQUESTION\n{pair['question']}"
                found.append(request_of(_CHECK, asked, CHECK_SCHEMA, min(self.most_tokens, CHECK_TOKENS)))
        return found

    def drafts(
        self, record: Record, answers: Sequence[Any], checked: Sequence[Any], refused: Counter[str]
    ) -> Iterator[Draft]:
        """The pairs that hold."""
        verdicts = iter(checked)
        for pair, span in _pairs(record, answers, self.most):
            why = span if isinstance(span, str) else _refusal(pair, next(verdicts))
            if why or isinstance(span, str):
                refused[str(why)] += 1
                continue
            question, answer = pair["question"].strip(), pair["answer"].strip()
            yield Draft(
                f"{question}\n\n{answer}",
                question,
                {
                    "question": question,
                    "answer": answer,
                    "passage": record["text"][slice(*span)],
                    "passage_begin": span[0],
                    "passage_end": span[1],
                    "passage_doc_id": record.get("doc_id"),
                    "question_kind": pair["kind"],
                    "difficulty": pair["difficulty"],
                },
            )

    def _request(self, text: str) -> Request:
        return request_of(self.instructions, text, SCHEMA, self.most_tokens)


def _pairs(record: Record, answers: Sequence[Any], most: int) -> Iterator[tuple[dict[str, Any], Span | str]]:
    """Each pair with the place of its passage in the page, or why it cannot stand whatever a check says."""
    for answer in answers:
        for number, pair in enumerate(answer["pairs"], 1):
            span = span_of(record["text"], pair["passage"])
            if number > most:
                yield pair, BEYOND
            elif not pair["question"].strip() or not pair["answer"].strip():
                yield pair, EMPTY
            elif span is None:
                yield pair, UNFOUND
            elif not _numbers(pair["answer"]) <= _numbers(record["text"][slice(*span)]):
                yield pair, UNSUPPORTED
            else:
                yield pair, span


def _numbers(text: str) -> set[str]:
    """The runs of digits; of any script, as their values."""
    return {str(int(found)) for found in _DIGITS.findall(text) if len(found) <= 100}


def _refusal(pair: dict[str, Any], verdict: Any) -> str:
    if verdict is None:
        return UNCHECKED
    if verdict["yes_or_no"]:
        return YES_NO
    if verdict["answer"] is None or not verdict["answer"].strip():
        return UNANSWERABLE
    return "" if agreement(pair["answer"], verdict["answer"]) >= AGREES else DISAGREES


def agreement(one: str, other: str) -> float:
    """F1 of the words of two answers, of the characters in scripts without spaces; 0 where one has none."""
    mine, theirs = (Counter(_units(text)) for text in (one, other))
    shared = (mine & theirs).total()
    return 2 * shared / (mine.total() + theirs.total()) if shared else 0.0


def _units(text: str) -> list[str]:
    """Digits count as they are: `tokens` makes every one a 0."""
    return [*(unit for unit in tokens(text)[0] if unit.strip("0")), *_DIGITS.findall(text)]
