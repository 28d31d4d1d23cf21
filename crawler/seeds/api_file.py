"""The file behind `-a api=FILE` is read into an `ApiSource`; every problem names its line and what to do.

Format: `docs/seeds.md`, example: `docs/examples/api.yaml`. Nothing in the file is executed or expanded.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from crawler.seeds.allowlist import compose
from crawler.seeds.api import FIELDS, MAX_LISTS, MAX_PATH_PARTS, WAYS, ApiSource, places
from crawler.urls.canonicalize import canonicalize

MAX_FILE_BYTES = 2**16
_KEYS = {"list": "scalar", "items": "scalar", "pages": "mapping", "record": "scalar", "fields": "mapping"}
_PAGES = ("by", "first", "step", "most", "at")
_PLACES = ("page", "offset", "cursor")
_Node = tuple[yaml.Node, str]  # a value and its text


class ApiError(ValueError):
    """The file cannot be used. `problems` holds one sentence each: file, line, what was expected, what to do."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def read_api(path: Path) -> ApiSource:
    """Read and check the file. Raises: ApiError that lists every problem."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ApiError([f"{path}: expected a readable file: {error.strerror}"]) from None
    if len(data) > MAX_FILE_BYTES:
        raise ApiError([f"{path}: {len(data)} bytes, expected at most {MAX_FILE_BYTES}"])
    return parse_api(data, str(path))


def parse_api(data: bytes, name: str = "api") -> ApiSource:
    """`read_api` on the file's bytes; `name` stands for the file in problems. Raises: ApiError."""
    reader = _Reader(name)
    source = reader.read(data)
    if reader.problems or source is None:
        raise ApiError(reader.problems)
    return source


class _Reader:
    """Collects problems with their lines."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []

    def read(self, data: bytes) -> ApiSource | None:
        try:
            root = compose(data.decode("utf-8-sig"))
        except (UnicodeDecodeError, yaml.YAMLError) as error:
            mark = getattr(error, "problem_mark", None)
            line = min(mark.line, data.count(b"\n")) + 1 if mark else 1  # the parser may point behind the last line
            self.problems.append(f"{self.name}:{line}: expected YAML in UTF-8: "
                                 f"{getattr(error, 'problem', None) or 'save the file in that encoding'}")  # fmt: skip
            return None
        if not isinstance(root, yaml.MappingNode):
            self.problems.append(f"{self.name}:1: expected the keys list, record and fields (docs/seeds.md)")
            return None
        top = self._mapping(root, tuple(_KEYS))
        texts = {key: node.value for key, node in top.items() if self._is(key, node, _KEYS[key])}
        pages = self._texts(top.get("pages"), _PAGES)
        fields = self._texts(top.get("fields"), FIELDS)
        self._check(root, top, texts, pages, fields)
        if self.problems:
            return None
        return ApiSource(
            lists=texts["list"],
            record=texts["record"],
            fields=tuple((key, text) for key, (_, text) in fields.items()),
            items=texts.get("items", ""),
            **_plain(pages),
        )

    def _check(
        self,
        root: yaml.Node,
        top: dict[str, yaml.Node],
        texts: dict[str, Any],
        pages: dict[str, _Node],
        fields: dict[str, _Node],
    ) -> None:
        for key in ("list", "record", "fields"):
            if key not in top:
                self._problem(root, f"{key}: missing; a source needs list, record and fields")
        by = self._way(pages)
        if "list" in texts:
            self._check_list(top["list"], texts["list"], by)
        if "record" in texts:
            self._check_url("record", top["record"], texts["record"])
            if not places(texts["record"]):
                self._problem(top["record"], "record: expected what is filled in, such as {id} or {slug}")
        if "fields" in top and not {"text", "html"} & set(fields):
            self._problem(top["fields"], "fields: expected text or html: where the text of a record stands")
        for key, (node, text) in {**fields, **{k: v for k, v in pages.items() if k == "at"}}.items():
            if not text or len(text.split(".")) > MAX_PATH_PARTS:
                self._problem(
                    node, f"{key}: expected a path such as results.0.title, of at most {MAX_PATH_PARTS} names"
                )

    def _way(self, pages: dict[str, _Node]) -> str:
        node, by = pages.get("by", (None, "none"))
        if by not in WAYS and node is not None:
            self._problem(node, f"by: expected one of {', '.join(WAYS)}, found {by[:50]!r}")
        if by in {"cursor", "link"} and "at" not in pages and node is not None:
            self._problem(node, f"by: {by} needs at: where a list names the next one, such as meta.next")
        for key in ("first", "step", "most"):
            if key in pages and not (key == "first" and by == "cursor"):
                self._check_number(key, *pages[key], at_least=0 if key == "first" else 1)
        return by

    def _check_number(self, key: str, node: yaml.Node, text: str, *, at_least: int) -> None:
        if not (text.isascii() and text.isdigit() and at_least <= int(text[:12]) <= 2**31):
            self._problem(node, f"{key}: expected a whole number of at least {at_least}, found {text[:50]!r}")

    def _check_list(self, node: yaml.Node, text: str, by: str) -> None:
        self._check_url("list", node, text)
        wanted = [by] if by in _PLACES else []
        if places(text) != wanted and by in WAYS:
            what = f"{{{by}}} once" if wanted else "nothing in braces"
            self._problem(node, f"list: by {by} expects {what} in the address, found {places(text) or 'nothing'}")

    def _check_url(self, key: str, node: yaml.Node, text: str) -> None:
        start = text.partition("{")[0]
        if canonicalize(text.replace("{", "").replace("}", "")) is None or "/" not in start.partition("://")[2]:
            self._problem(node, f"{key}: expected an http(s) URL with its host spelt out, found {text[:100]!r}")

    def _texts(self, node: yaml.Node | None, known: tuple[str, ...]) -> dict[str, _Node]:
        if not isinstance(node, yaml.MappingNode):
            return {}
        found = self._mapping(node, known)
        return {name: (value, value.value) for name, value in found.items() if self._is(name, value, "scalar")}

    def _mapping(self, node: yaml.MappingNode, known: tuple[str, ...]) -> dict[str, yaml.Node]:
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = str(key.value)
            if not isinstance(key, yaml.ScalarNode) or name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}"
                self._problem(key, f"{name[:50]}: unknown key; {hint}")
            elif name in found:
                self._problem(key, f"{name}: given twice")
            else:
                found[name] = value
        return found

    def _is(self, key: str, node: yaml.Node, kind: str) -> bool:
        if isinstance(node, yaml.ScalarNode) == (kind == "scalar"):
            return kind == "scalar"
        self._problem(node, f"{key}: expected {'a single value' if kind == 'scalar' else 'key: value pairs'}")
        return False

    def _problem(self, node: yaml.Node, text: str) -> None:
        self.problems.append(f"{self.name}:{node.start_mark.line + 1}: {text}")


def _plain(pages: dict[str, _Node]) -> dict[str, Any]:
    numbers: dict[str, Callable[[str], Any]] = {"step": int, "most": int}
    return {key: numbers.get(key, str)(text) for key, (_, text) in pages.items()}


def source_to_json(source: ApiSource) -> dict[str, Any]:
    """What `source_from_json` reads: plain values."""
    return {name: getattr(source, name) for name in _TEXTS} | {
        "step": source.step, "most": source.most, "fields": [list(pair) for pair in source.fields],
    }  # fmt: skip


def source_from_json(values: dict[str, Any]) -> ApiSource:
    """Types are checked: what is stored in Redis may have been written by anybody who reaches it.

    Raises: KeyError, TypeError, ValueError.
    """
    texts = {name: values[name] for name in _TEXTS}
    fields = tuple((name, path) for name, path in values["fields"])
    numbers = values["step"], values["most"]
    strings: Iterator[Any] = (text for text in (*texts.values(), *(part for pair in fields for part in pair)))
    if not all(isinstance(text, str) for text in strings) or not all(type(number) is int for number in numbers):
        raise TypeError("a source of JSON has a value of the wrong type")
    source = ApiSource(**texts, fields=fields, step=numbers[0], most=min(numbers[1], MAX_LISTS * MAX_LISTS))
    if source.by not in WAYS or source.first_list is None or not set(dict(fields)) <= set(FIELDS):
        raise ValueError("a source of JSON has a value that is none of the known ones")
    return source


_TEXTS = ("lists", "record", "items", "by", "first", "at")
