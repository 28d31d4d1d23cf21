"""`gristmill llm extract`: records by a schema, each value with the passage that it follows from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from crawler.llm.derive import Derived, derived
from crawler.llm.fields import Field, Form
from crawler.llm.model import Request
from crawler.llm.prompt import check_length, request_of, version_of
from crawler.llm.spans import Span, span_of
from crawler.llm.tool import Column
from crawler.storage.files.records import Record

OVERLAP = 400
"""Characters that two windows share: a passage of this length stands whole in one of them."""
_INSTRUCTIONS = """You read values out of a text of a web page. The fields are:

{fields}

For each field give the shortest passage that says it, copied from the text letter by letter, and the value. Where the \
text does not say it the answer is null, or an empty list; do not infer, compute or know anything that is not written \
there."""
COLUMNS = {
    "record": Column("string", "JSON: each field with its value, null where the text does not say it"),
    "evidence": Column("string", "JSON: by field where its value stands (begin and end in characters), and the rule"),
    "found": Column("int64", "fields with a value"),
    "refused": Column("int64", "values that the model gave and that follow from no passage"),
    "conflicts": Column("int64", "further values of other windows for a field that has one; the first one counts"),
    "windows": Column("int64", "parts in which the text was read"),
}


def windows(text: str, size: int) -> list[Span]:
    """Parts of a text that overlap, each ending at a line or a space where there is one."""
    found, begin = [], 0
    while True:
        end = min(len(text), begin + size)
        if end < len(text):
            least = begin + size // 2
            end = max(text.rfind("\n", least, end), text.rfind(" ", least, end), -1) + 1 or end
        found.append((begin, end))
        if end >= len(text):
            return found
        begin = max(begin + 1, end - min(OVERLAP, size // 4))


@dataclass(frozen=True, slots=True)
class Extract:
    """Records of one form. size: characters of a window."""

    form: Form
    size: int
    most_tokens: int
    kind: str = "record"
    operation: str = "extract"
    columns: dict[str, Column] = field(default_factory=lambda: dict(COLUMNS))

    @property
    def name(self) -> str:
        """Of the annotation."""
        return f"llm_extract_{self.form.name}"

    @property
    def instructions(self) -> str:
        """What the model is told. Raises: InputError where that is too long."""
        text = _INSTRUCTIONS.format(fields="\n".join(map(str, self.form.fields)))
        check_length(text)
        return text

    @property
    def version(self) -> str:
        """Of wording and schema."""
        return version_of(self.instructions, self.form.schema)

    @property
    def parameters(self) -> dict[str, Any]:
        """For the job record."""
        rules = {each.name: f"{each.by} {each.unit}".strip() for each in self.form.fields}
        return {"schema": self.form.name, "fields": rules, "window": self.size}

    def requests(self, record: Record) -> Sequence[Request]:
        """One for each window."""
        text, schema, instructions = record["text"], self.form.schema, self.instructions
        spans = windows(text, self.size)
        return [request_of(instructions, text[begin:end], schema, self.most_tokens) for begin, end in spans]

    def row(self, record: Record, answers: Sequence[Any]) -> dict[str, Any]:
        """One record of all windows; values that follow from no passage are counted, not taken."""
        text, language = record["text"], record.get("language")
        spans = windows(text, self.size)
        values: dict[str, Any] = {}
        evidence: dict[str, Any] = {}
        refused = conflicts = 0
        for each in self.form.fields:
            given = list(_given(each, spans, answers))
            taken = [found for one, span in given if (found := _checked(each, one, span, text, language))]
            refused += len(given) - len(taken)
            if each.many:
                taken = sorted({one.span: one for one in taken}.values(), key=lambda one: one.span)
                values[each.name] = [one.value for one in taken]
                evidence[each.name] = [_said(each, one) for one in taken]
            else:
                values[each.name] = taken[0].value if taken else None
                evidence[each.name] = _said(each, taken[0]) if taken else None
                conflicts += sum(one.value != taken[0].value for one in taken)
        return {
            "record": orjson.dumps(values).decode(),
            "evidence": orjson.dumps(evidence).decode(),
            "found": sum(value not in (None, []) for value in values.values()),
            "refused": refused,
            "conflicts": conflicts,
            "windows": len(spans),
        }


def _given(each: Field, spans: Sequence[Span], answers: Sequence[Any]) -> Iterator[tuple[dict[str, Any], Span]]:
    for span, answer in zip(spans, answers, strict=True):
        said = answer[each.name]
        for one in said if each.many else [said] if said is not None else []:
            yield one, span


def _checked(each: Field, one: dict[str, Any], window: Span, text: str, language: str | None) -> Derived | None:
    """The value where it follows from its passage, at any place of the window where that stands."""
    begin, end = window
    while (found := span_of(text[:end], one["quote"], begin)) is not None:
        if (taken := derived(each, one["value"], found, text, language)) is not None:
            return taken
        begin = found[0] + 1
    return None


def _said(each: Field, one: Derived) -> dict[str, Any]:
    return {"begin": one.span[0], "end": one.span[1], "by": each.by}
