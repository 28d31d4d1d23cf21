"""JSON that pages carry is read here, also where it is only nearly JSON, as generated scripts often are.

Read as it is meant: byte order marks, comments, CDATA, `<!--`, a semicolon or a comma at the end, several values in a
row, line feeds and controls in strings, halves of characters (left out), `&quot;` for quotation marks, single quotes,
names without quotes, escapes of JavaScript. What has more than one meaning is not read: an apostrophe in single quotes,
a quotation mark that is not escaped, a word that is no value. Sources: RFC 8259; JSON5 (comments, quotes, commas).
"""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import orjson

MAX_CHARS = 4 * 2**20
"""Characters of one script that are read."""
MAX_REPAIRED = 2**20
"""The same where each sign has to be looked at: some 0.3 s."""
MAX_DEPTH = 512
"""Objects and lists within each other."""
MAX_PATH_PARTS = 20
"""Names and positions of one path."""
_IS_ESCAPED = re.compile(r"\s*+[\[{]\s*+(?:[\[{]\s*+)?&(?:quot|#34|#x22);", re.IGNORECASE)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"""
      (?P<nothing>[\s\ufeff]++|//\s*+(?:<!\[CDATA\[|\]\]>|<!--|-->)|/\*(?:[^*]++|\*(?!/))*+\*/|//[^\n]*+|<!--|-->|<!\[CDATA\[|\]\]>)
    | (?P<string>"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+')
    | (?P<open>[{\[]) | (?P<close>[}\]]) | (?P<comma>,) | (?P<colon>:) | (?P<end>;)
    | (?P<word>[-+.\w$]++)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_STRING = re.compile(r"\\(?P<escaped>u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)|(?P<raw>[\x00-\x1f\"])", re.DOTALL)
_ESCAPES = frozenset('"\\/bfnrt')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_VALUES = {"true": "true", "false": "false", "null": "null", "undefined": "null", "NaN": "null"}
_NAME = re.compile(r"[^\W\d][\w$]*+|\$[\w$]*+")


class NoJSONError(ValueError):
    """What is not JSON, nor nearly so, or too much; the text says which."""


def read_json(text: str | bytes) -> Any:
    """The value of a script; a list of them where several stand in a row. Raises: NoJSONError."""
    if len(text) > MAX_CHARS:
        raise NoJSONError(f"more than {MAX_CHARS} characters")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        reason = str(error)[:100]
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    text = text.strip("\ufeff \t\r\n")
    if _IS_ESCAPED.match(text):
        text = unescape(text)
    if _SURROGATE.search(text):
        text = _ESCAPE.sub(lambda escape: "" if escape["half"] else escape[0], text)
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return _repaired(text, reason)


def value_at(data: Any, path: str) -> Any:
    """The value at a path of names and positions, such as `results.0.title`; None where there is none."""
    for part in path.split(".")[:MAX_PATH_PARTS] if path else ():
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and part.isascii() and part.isdigit() and int(part[:9]) < len(data):
            data = data[int(part[:9])]
        else:
            return None
    return data


def _repaired(text: str, reason: str) -> Any:
    if len(text) > MAX_REPAIRED or not text:
        raise NoJSONError(reason)
    values = [orjson.loads(value) for value in _Repair(text).values() if _is_sound(value)]
    if not values:
        raise NoJSONError(reason)
    return values if len(values) > 1 else values[0]


def _is_sound(value: str) -> bool:
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    return True


class _Repair:
    """One pass over the signs of a text; objects and lists come out as JSON, each by itself."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._out: list[str] = []
        self._open: list[str] = []
        self._has_comma = False

    def values(self) -> list[str]:
        """What is whole; nothing of what follows a sign that has no meaning here."""
        found, at = list[str](), 0
        while match := _TOKEN.match(self._text, at):
            at = match.end()
            kind = match.lastgroup or ""
            if kind == "nothing":
                continue
            if not self._take(kind, match[0], at):
                return found
            if not self._open and self._out:
                found.append("".join(self._out))
                self._out, self._has_comma = [], False
        return found

    def _take(self, kind: str, sign: str, at: int) -> bool:
        """False where the sign has no meaning in its place."""
        if not self._open and kind != "open":
            return kind in {"comma", "end"}
        if kind == "close":
            self._has_comma = False
            self._out.append(sign)
            return self._open.pop() == sign
        if kind == "comma":
            is_behind_value, self._has_comma = not self._has_comma, True
            return is_behind_value
        if self._has_comma:
            self._out.append(",")
            self._has_comma = False
        if kind == "open":
            self._open.append("}" if sign == "{" else "]")
        written = _string(sign) if kind == "string" else self._word(sign, at) if kind == "word" else sign
        self._out.append(written or "")
        return written is not None and kind != "end" and len(self._open) <= MAX_DEPTH

    def _word(self, word: str, at: int) -> str | None:
        if self._open[-1] == "}" and _is_colon(self._text, at) and _NAME.fullmatch(word):
            return f'"{word}"'
        return word if _NUMBER.fullmatch(word) else _VALUES.get(word)


def _is_colon(text: str, at: int) -> bool:
    return text[at : at + 20].lstrip()[:1] == ":"


def _string(quoted: str) -> str:
    """A string as JSON writes it; controls are left out."""
    return f'"{_IN_STRING.sub(_written, quoted[1:-1])}"'


def _written(match: re.Match[str]) -> str:
    if (raw := match["raw"]) is not None:
        return {'"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\n"}.get(raw, "")
    escaped = match["escaped"]
    if escaped in _ESCAPES or len(escaped) == 5:
        return f"\\{escaped}"
    if len(escaped) == 3:
        return f"\\u00{escaped[1:]}"
    return "" if escaped < " " else escaped  # a line that goes on, or a sign that needs no escape
