"""The fields of a record, from a JSON Schema that a person wrote: what each is, and how its value follows from a page.

Values that no rule can derive from words (booleans, objects) are refused here, not invented later.
Source: https://json-schema.org/draft/2020-12
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from crawler.problems import InputError, did_you_mean

VERBATIM, NUMBER, DATE, UNIT = "verbatim", "number", "date", "unit"
MOST_BYTES, MOST_FIELDS = 100_000, 100
_KEYWORDS = ("type", "format", "enum", "items", "description", "title", "unit")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    """One field. by: the normaliser. whole: an integer. choices: of an enum. unit: of the value. many: a list."""

    name: str
    by: str
    description: str = ""
    whole: bool = False
    choices: tuple[str, ...] = ()
    unit: str = ""
    many: bool = False

    @property
    def answer(self) -> dict[str, Any]:
        """JSON Schema of what a model answers: the value with the passage that it rests on, or null."""
        kind = "string" if self.by in (VERBATIM, DATE) else "integer" if self.whole else "number"
        value: dict[str, Any] = {"type": kind} | ({"enum": list(self.choices)} if self.choices else {})
        one = {
            "type": "object",
            "properties": {"quote": {"type": "string"}, "value": value},
            "required": ["quote", "value"],
            "additionalProperties": False,
        }
        return {"type": "array", "items": one} if self.many else {"anyOf": [one, {"type": "null"}]}

    def __str__(self) -> str:
        """As the model reads it."""
        what = {VERBATIM: "as it stands in the text", NUMBER: "a number", DATE: "a date, as YYYY-MM-DD"}
        said = f"a number, in {self.unit}" if self.by == UNIT else what[self.by]
        said = f"one of {', '.join(self.choices)}" if self.choices else said
        return f"{self.name}: {'all of them, each ' if self.many else ''}{said}" + (
            f" ({self.description})" if self.description else ""
        )


@dataclass(frozen=True, slots=True)
class Form:
    """A schema. name: of the annotation, behind `llm_extract_`."""

    name: str
    fields: tuple[Field, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of an answer."""
        names = {field.name: field.answer for field in self.fields}
        return {"type": "object", "properties": names, "required": list(names), "additionalProperties": False}


def form_of(given: str) -> Form:
    """Read a file of JSON Schema. Raises: InputError, a sentence for each field that cannot be derived."""
    path = Path(given)
    if not _NAME.fullmatch(path.stem):
        raise InputError([f"--schema {given}: its name would be {path.stem!r}; expected a-z, then a-z, 0-9 and _"])
    content = _read(path)
    properties = content.get("properties")
    if content.get("type") != "object" or not isinstance(properties, dict) or not properties:
        raise InputError([f"{given}: expected type object, with properties"])
    if len(properties) > MOST_FIELDS:
        raise InputError([f"{given}: {len(properties)} properties, expected at most {MOST_FIELDS}"])
    problems: list[str] = []
    fields = [_field(name, each, problems) for name, each in properties.items()]
    if problems:
        raise InputError([f"{given}: {problem}" for problem in problems])
    return Form(path.stem, tuple(field for field in fields if field is not None))


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError([f"{path}: more than {MOST_BYTES:,} bytes: shorten it"])
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError([f"--schema {path}: cannot be read ({error.strerror})"]) from None
    except orjson.JSONDecodeError as error:
        raise InputError([f"--schema {path}: not JSON ({error})"]) from None
    if not isinstance(content, dict):
        raise InputError([f"--schema {path}: expected a JSON object"])
    return content


def _field(name: str, said: Any, problems: list[str], *, many: bool = False) -> Field | None:
    if not isinstance(said, dict):
        problems.append(f"{name}: expected an object with a type")
        return None
    if strange := [word for word in said if word not in _KEYWORDS]:
        problems.append(f"{name}: {strange[0]!r} is not understood here{did_you_mean(strange[0], _KEYWORDS)}")
        return None
    kind = said.get("type")
    kinds = [each for each in (kind if isinstance(kind, list) else [kind]) if each != "null"]
    if kinds == ["array"] and not many:
        item = _field(name, said.get("items"), problems, many=True)
        described = str(said.get("description") or (item.description if item else ""))
        return item and Field(name, item.by, described, item.whole, item.choices, item.unit, many=True)
    if len(kinds) != 1 or kinds[0] not in ("string", "number", "integer"):
        problems.append(f"{name}: expected type string, number, integer, or an array of one; nothing else follows from "
                        "a passage by a rule")  # fmt: skip
        return None
    return _single(name, kinds[0], said, problems, many=many)


def _single(name: str, kind: str, said: Mapping[str, Any], problems: list[str], *, many: bool) -> Field | None:
    description, unit, choices = str(said.get("description") or ""), said.get("unit", ""), said.get("enum", [])
    if said.get("format") not in (None, "date") or (said.get("format") and kind != "string"):
        problems.append(f"{name}: expected format date, of a string, or none")
    elif not isinstance(unit, str) or (unit and kind == "string"):
        problems.append(f"{name}: expected unit as a text, of a number")
    elif not isinstance(choices, list) or not all(isinstance(each, str) for each in choices):
        problems.append(f"{name}: expected enum as a list of texts")
    elif choices and (kind != "string" or said.get("format")):
        problems.append(f"{name}: expected enum with type string alone")
    else:
        by = UNIT if unit else NUMBER if kind != "string" else DATE if said.get("format") else VERBATIM
        return Field(name, by, description, kind == "integer", tuple(choices), unit, many)
    return None
