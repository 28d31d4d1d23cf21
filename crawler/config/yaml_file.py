"""YAML that people write is read as values that know where they are: allowlists, sources, profiles, gates, mixtures.

A file is a tree of nodes of bounded size and depth. Nothing in it is executed: no tags, no merge keys. A schema is a
function that walks the tree and asks each value for what it expects; what is not so becomes a problem with file, line
and column, and all problems are reported together. YAML forbids a key twice in one mapping (1.2.2, section 3.2.1.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from crawler.problems import InputError, did_you_mean

T = TypeVar("T")

MAX_DEPTH = 8
"""Collections within each other, the outermost one included."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = "tag:yaml.org,2002:null"
_START = yaml.Mark("", 0, 0, 0, None, 0)


@dataclass(slots=True)
class _File:
    name: str
    found: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, mark: Any, text: str, lines: int | None = None) -> None:
        """`lines`: of the file; the parser may point behind the last one."""
        line = mark.line if lines is None else min(mark.line, lines)
        self.found.append((line + 1, mark.column + 1, text))

    def problems(self) -> list[str]:
        """In the order of the file."""
        return [
            f"{self.name}:{line}:{column}: {text}" for line, column, text in sorted(self.found, key=lambda one: one[:2])
        ]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a file. Asked for something that it is not, it adds a problem and answers nothing.

    key: the path of keys that leads to it, for messages; empty for the whole file.
    """

    node: yaml.Node
    key: str
    file: _File
    key_node: yaml.Node | None = None

    @property
    def line(self) -> int:
        """Where it begins, from 1."""
        return int(self.node.start_mark.line) + 1

    @property
    def is_null(self) -> bool:
        """True for `null`, `~` and nothing at all."""
        return bool(self.node.tag == _NULL)

    @property
    def is_mapping(self) -> bool:
        """True for keys with values."""
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        """True for a sequence."""
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def count(self) -> int:
        """Problems of the whole file until now: a reader compares it to see whether a part of the file is sound."""
        return len(self.file.found)

    def problem(self, text: str, below: str = "") -> None:
        """Report that this value cannot be used; `text` says what was expected. below: the key in it that is meant."""
        name = self._path(below) if below else self.key
        self.file.add(self.node.start_mark, f"{name}: {text}" if name else text)

    def key_problem(self, text: str) -> None:
        """As `problem`, pointing at the key instead of the value."""
        self.file.add((self.key_node or self.node).start_mark, f"{self.key}: {text}")

    def items(self, expected: str) -> Iterator[tuple[str, Value]]:
        """Each key with its value, in the order of the file; a key twice is a problem, the first one counts."""
        if not isinstance(self.node, yaml.MappingNode):
            self.problem(expected)
            return
        seen = set[str]()
        for key, node in self.node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            if not name:
                Value(key, self.key, self.file).problem("a key has to be a plain word")
            elif name in seen:
                Value(key, self._path(name), self.file).problem("given twice")
            else:
                seen.add(name)
                yield name, Value(node, self._path(name), self.file, key)

    def mapping(self, known: Collection[str], expected: str = "") -> dict[str, Value]:
        """The values of the keys in `known`; another key is a problem that names the nearest one."""
        found = {}
        for name, value in self.items(expected or f"expected a mapping with the keys {', '.join(known)}"):
            if name in known:
                found[name] = value
            else:
                value.key_problem(f"unknown key{did_you_mean(name, known)}")
        return found

    def sequence(self, expected: str) -> list[Value]:
        """The values of a sequence."""
        if isinstance(self.node, yaml.SequenceNode):
            return [Value(node, self.key, self.file) for node in self.node.value]
        self.problem(expected)
        return []

    def one_or_more(self) -> list[Value]:
        """The values of a sequence, or the value alone where it is none."""
        return self.sequence("") if self.is_list else [self]

    def text(self, convert: Callable[[str], T]) -> T | None:
        """What `convert` makes of the text of a scalar; its ValueError says what was expected."""
        if not isinstance(self.node, yaml.ScalarNode):
            self.problem("expected a single value, found a nested structure")
            return None
        try:
            return convert(self.node.value)
        except ValueError as error:
            self.problem(f"{error}, found {self.node.value[:100]!r}")
            return None

    def plain(self) -> Any:
        """A scalar as YAML types it (text, number, truth value, date, None), or a list of such."""
        if self.is_list:
            return [value._scalar() for value in self.sequence("")]
        return self._scalar()

    def _scalar(self) -> Any:
        if not isinstance(self.node, yaml.ScalarNode):
            self.problem("expected a value or a list of values, found a nested structure")
            return None
        try:
            return yaml.constructor.SafeConstructor().construct_object(self.node)
        except (ValueError, yaml.YAMLError) as error:
            self.problem(f"expected a plain value ({str(error).splitlines()[0]})")
            return None

    def number(self, *, least: float = -math.inf, above: float = -math.inf, most: float = math.inf) -> float:
        """A finite number within its bounds; 1 where it is none."""
        value = self.plain()
        good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if good and least <= value <= most and value > above:
            return float(value)
        bounds = [f"from {least:g}"] * math.isfinite(least) + [f"above {above:g}"] * math.isfinite(above)
        bounds += [f"at most {most:g}"] * math.isfinite(most)
        self.problem(f"expected a number{' ' * bool(bounds)}{' and '.join(bounds)}, found {value!r:.100}")
        return 1.0

    def under(self, key: str) -> Value:
        """The same value under another name, such as `targets[2]`."""
        return Value(self.node, key, self.file, self.key_node)

    def _path(self, name: str) -> str:
        return f"{self.key}.{name[:80]}" if self.key else name[:80]


def read(path: Path, schema: Callable[[Value], T | None], *, most: int, what: str = "a readable file") -> T:
    """Read a file of at most `most` bytes and answer what `schema` makes of it.

    Raises: InputError listing every problem with file, line and column.
    """
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= most else b""
    except OSError as error:
        raise InputError([f"{path}: expected {what}: {error.strerror}"]) from None
    if size > most:
        raise InputError([f"{path}: {size:,} bytes, expected at most {most:,}: split the file"])
    return parse(data, schema, str(path))


def parse(data: bytes, schema: Callable[[Value], T | None], name: str) -> T:
    """`read` on the file's bytes; `name` is the file's in problems. Raises: InputError."""
    file = _File(name)
    found = schema(root) if (root := _root(data, file)) is not None else None
    if file.found or found is None:
        raise InputError(file.problems())
    return found


def _root(data: bytes, file: _File) -> Value | None:
    try:
        node = _compose(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n")
        file.add(yaml.Mark("", 0, line, 0, None, 0), "expected UTF-8: save the file in that encoding")
        return None
    except yaml.YAMLError as error:
        found = getattr(error, "problem", None) or str(error)
        file.add(getattr(error, "problem_mark", None) or _START, f"expected YAML: {found}", data.count(b"\n"))
        return None
    return Value(node or yaml.ScalarNode(_NULL, "", _START, _START), "", file)


def _compose(text: str) -> yaml.Node | None:
    """The nodes of the one document. Depth is checked on the event stream first: composing recurses, in C too."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise _too_deep(event.start_mark)
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in (error.problem or ""):  # libyaml reads ahead and has a bound of its own, since 6.0.4
            raise _too_deep(error.problem_mark) from None
        raise
    return yaml.compose(text, Loader=_LOADER)


def _too_deep(mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=f"nested more than {MAX_DEPTH} levels deep", problem_mark=mark)
