"""What a command answers: with `--json` one object of a declared schema, else lines for a person."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

Field = tuple[str, str]
"""Type (a key of TYPES, "list of …" of one, and for both " or null") and meaning of a fact."""
Fields = Mapping[str, Field]
"""Facts of an answer by name."""
TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "list": (list, tuple),
    "value": (str, int, float, bool, list, dict, type(None)),
}
COMMON: Fields = {
    "schema": ("string", "name of the schema, such as gristmill/dataset-verify"),
    "version": ("integer", "version of the schema; it grows when a field goes or changes its meaning"),
    "error": ("object", "only where something was not done: problems, a list of sentences"),
}
"""Fields of every answer, beside its own."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The form of one command's answers. `name`: the words of the call, such as "dataset-verify"."""

    name: str
    fields: Fields
    version: int = 1


@dataclass(slots=True)
class Answer:
    """What was found or done.

    facts: by the names of the schema; all of them, or none where nothing could be done. lines: the same for a person,
    or what prints it. problems: a sentence each for what was not done. exitcode: None = 1 where there are problems.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    lines: Iterable[str] | Callable[[], None] = ()
    problems: Sequence[str] = ()
    exitcode: int | None = None

    @property
    def code(self) -> int:
        """The exit code of the process."""
        return int(bool(self.problems)) if self.exitcode is None else self.exitcode

    def show(self) -> None:
        """Print it for a person, without the problems."""
        if callable(self.lines):
            self.lines()
        else:
            sys.stdout.writelines(f"{line}\n" for line in self.lines)


def encoded(schema: Schema, answer: Answer) -> str:
    """The answer as one JSON object that ends a line; what JSON has no type for is a string."""
    content = {"schema": f"gristmill/{schema.name}", "version": schema.version, **answer.facts}
    if answer.problems:
        content["error"] = {"problems": list(answer.problems)}
    try:
        return orjson.dumps(content, default=_plain, option=orjson.OPT_INDENT_2).decode() + "\n"
    except orjson.JSONEncodeError:  # the name of a file that is no UTF-8, or a number that is longer than 64 bits
        return json.dumps(content, default=_plain, indent=2) + "\n"


def refuse_in_json(schema: Schema, problem: str) -> None:
    """Answer a wrong call in JSON, too, where the command line asks for it: nothing has read its options by then."""
    if "--json" in sys.argv:
        sys.stdout.write(encoded(schema, Answer(problems=[problem])))
        sys.stdout.flush()


def _plain(value: object) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else str(value)
