"""Who may be crawled, and under which licence: the allowlist file, read before the first request.

A YAML list of domains (format: `docs/seeds.md`, example: `docs/examples/allowlist.yaml`). The file is read as nodes, so
that every problem names its line, and all problems are reported together. Nothing in it is executed or expanded: no
tags, no merge keys; an anchor costs nothing because the schema is two levels deep.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from crawler.seeds import patterns
from crawler.seeds.allowlist_fields import LISTS, SCALARS
from crawler.seeds.hours import hours_of
from crawler.urls.canonicalize import canonicalize, host_and_path

MAX_FILE_BYTES = 64 * 2**20


class AllowlistError(ValueError):
    """The file cannot be used. `problems` holds one sentence each: file, line, what was expected, what to do."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True)
class AllowlistEntry:
    """One domain with its subdomains: what may be fetched from it, and what each of its records is stamped with."""

    domain: str  # lower case, IDN in ASCII; an IP literal or localhost with its port
    tier: str  # "A" licensed or public domain, "B" permissive but unreviewed
    licence: str  # tag, such as CC-BY-4.0
    reviewer: str | None = None
    date: str | None = None  # ISO 8601, day of the review
    expires: str | None = None  # ISO 8601, last day (UTC) on which the licence holds
    sitemaps: tuple[str, ...] = ()
    include: tuple[str, ...] = ()  # patterns of `crawler.seeds.patterns`; empty = everything
    exclude: tuple[str, ...] = ()  # beats include
    delay: float | None = None  # seconds between requests; None = DOWNLOAD_DELAY
    max_pages: int | None = None
    priority: int = 0  # among domains whose turn has come, those with a higher one are asked first
    hours: str | None = None  # `seeds.hours`; None = all day
    ttl_days: float | None = None  # age at which `scrapy dataset expire` removes a document; None = never
    js: str = ""  # "never", "auto", "always": when a browser renders its pages; empty = JS_MODE decides
    js_wait_selector: str | None = None  # CSS selector that the browser waits for
    js_capture: tuple[str, ...] = ()  # patterns of JSON that its pages fetch in the browser for their own content
    js_timeout: float | None = None  # seconds a page may take in the browser; None = BROWSER_TIMEOUT_SECONDS
    discovery: str = "sitemap"
    feeds: int | None = None  # that its pages name and each worker reads, of one host; None = FRONTIER_FEEDS
    profile: str = "auto"  # of the quality rules; auto = QUALITY_PROFILE decides
    tracking: tuple[str, ...] = ()  # query parameters, in lower case, that name no page on this domain
    line: int = field(default=0, compare=False, repr=False)  # in the file, for messages; not stored

    @property
    def expires_at(self) -> float:
        """Seconds since the epoch from which the entry no longer holds; infinity where it never ends."""
        if self.expires is None:
            return float("inf")
        day = datetime.fromisoformat(self.expires).replace(tzinfo=UTC)
        return (day + timedelta(days=1)).timestamp()

    def opens_at(self, now: float) -> float:
        """0 where the domain may be crawled now, else when its hours begin (seconds since the epoch)."""
        return hours_of(self.hours).opens_at(now) if self.hours else 0.0

    def captures(self, url: str) -> bool:
        """True for a URL of this very domain that `js_capture` names: its licence speaks of no other domain."""
        if not self.js_capture or (known := canonicalize(url)) is None:
            return False
        host, path = host_and_path(known)
        name = host if ":" in self.domain else host.partition(":")[0]
        is_inside = name == self.domain or name.endswith(f".{self.domain.removeprefix('www.')}")
        return is_inside and any(patterns.matches(pattern, path) for pattern in self.js_capture)

    def allows_path(self, path_and_query: str) -> str:
        """Empty where include and exclude allow it, else "path_excluded" or "path_not_included"."""
        if any(patterns.matches(pattern, path_and_query) for pattern in self.exclude):
            return "path_excluded"
        if self.include and not any(patterns.matches(pattern, path_and_query) for pattern in self.include):
            return "path_not_included"
        return ""


def read_allowlist(path: str | Path) -> list[AllowlistEntry]:
    """Read and check the whole file. Raises AllowlistError that lists every problem."""
    path = Path(path)
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_FILE_BYTES else b""
    except OSError as error:
        raise AllowlistError([f"{path}: expected a readable allowlist file: {error.strerror}"]) from None
    if size > MAX_FILE_BYTES:
        raise AllowlistError([f"{path}: {size} bytes, expected at most {MAX_FILE_BYTES}: split the file"])
    return parse_allowlist(data, str(path))


def parse_allowlist(data: bytes, name: str = "allowlist") -> list[AllowlistEntry]:
    """`read_allowlist` on the file's bytes; `name` stands for the file in problems."""
    reader = _Reader(name)
    entries = reader.read(data)
    if reader.problems:
        raise AllowlistError(reader.problems)
    return entries


_ALIASES = {"license": "licence", "wait_selector": "js_wait_selector"}
_REQUIRED = ("domain", "tier", "licence")
_KEYS = (*SCALARS, *LISTS, *_ALIASES)
_Values = dict[str, Any]


class _Reader:
    """Walks the nodes of one file and collects problems with their lines."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []

    def read(self, data: bytes) -> list[AllowlistEntry]:
        try:
            root = compose(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            self.problems.append(f"{self.name}:{line}: expected UTF-8: save the file in that encoding")
            return []
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            found = getattr(error, "problem", None) or str(error)
            line = min(mark.line, data.count(b"\n")) + 1 if mark else 1  # the parser may point behind the last line
            self.problems.append(f"{self.name}:{line}: expected YAML: {found}")
            return []
        return self._entries(root)

    def _entries(self, root: yaml.Node | None) -> list[AllowlistEntry]:
        nodes, defaults = self._top(root)
        if not self.problems and not nodes:
            self.problems.append(f"{self.name}:1: no domains: expected a list of entries, each starting '- domain:'")
        entries: dict[str, AllowlistEntry] = {}
        for node in nodes:
            entry = self._entry(node, defaults)
            if entry is not None and entry.domain in entries:
                first = entries[entry.domain].line
                self._problem(node, f"domain: {entry.domain} stands in line {first} already: merge the two")
            elif entry is not None:
                entries[entry.domain] = entry
        return list(entries.values())

    def _top(self, root: yaml.Node | None) -> tuple[list[yaml.Node], _Values]:
        """The nodes of the entries and the defaults: of a plain list, or of a mapping with `domains` and `defaults`."""
        if isinstance(root, yaml.SequenceNode):
            return root.value, {}
        if not isinstance(root, yaml.MappingNode):
            if root is not None:
                self._problem(root, "expected a list of entries, each starting '- domain:'")
            return [], {}
        nodes: list[yaml.Node] = []
        defaults: _Values = {}
        for key, node in root.value:
            if not isinstance(key, yaml.ScalarNode):
                self._problem(key, "a key has to be a plain word")
            elif key.value == "domains" and isinstance(node, yaml.SequenceNode):
                nodes = node.value
            elif key.value == "defaults" and isinstance(node, yaml.MappingNode):
                defaults = self._mapping(node)
                defaults.pop("domain", None)
            else:
                self._problem(key, f"{key.value}: expected 'domains' with a list, or 'defaults' with key: value pairs")
        return nodes, defaults

    def _entry(self, node: yaml.Node, defaults: _Values) -> AllowlistEntry | None:
        if not isinstance(node, yaml.MappingNode):
            self._problem(node, "expected an entry with key: value pairs, starting '- domain: example.org'")
            return None
        before = len(self.problems)
        written = self._mapping(node)
        values = {**defaults, **written}
        sound = len(self.problems) == before  # a misspelt key is not missing as well
        for key in _REQUIRED:
            if key not in values and sound:
                self._problem(node, f"{key}: missing; every entry needs {', '.join(_REQUIRED)}")
        line = node.start_mark.line + 1
        return AllowlistEntry(**values, line=line) if len(self.problems) == before else None

    def _mapping(self, node: yaml.MappingNode) -> _Values:
        values: _Values = {}
        for key_node, value_node in node.value:
            key = _ALIASES.get(str(key_node.value), str(key_node.value))
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(key_node, "a key has to be a plain word")
            elif key in values:
                self._problem(key_node, f"{key}: given twice")
            elif key not in SCALARS and key not in LISTS:
                self._problem(key_node, f"{key[:50]}: unknown key{_did_you_mean(key)}")
            elif value_node.tag != _NULL:
                self._value(values, key, value_node)
        return values

    def _value(self, values: _Values, key: str, node: yaml.Node) -> None:
        if key in LISTS:
            values[key] = tuple(self._items(key, node))
        else:
            values.update((key, value) for value in self._converted(key, node, SCALARS[key]))

    def _items(self, key: str, node: yaml.Node) -> Iterator[str]:
        for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            yield from self._converted(key, item, LISTS[key])

    def _converted(self, key: str, node: yaml.Node, convert: Callable[[str], Any]) -> Iterator[Any]:
        if not isinstance(node, yaml.ScalarNode):
            self._problem(node, f"{key}: expected a single value, found a nested structure")
            return
        try:
            yield convert(node.value)
        except ValueError as error:
            self._problem(node, f"{key}: {error}, found {node.value[:100]!r}")

    def _problem(self, node: yaml.Node, text: str) -> None:
        self.problems.append(f"{self.name}:{node.start_mark.line + 1}: {text}")


def compose(text: str) -> yaml.Node | None:
    """The nodes of the one document. Depth is checked on the event stream first: composing recurses, in C too."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise _too_deep(event.start_mark)
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in (error.problem or ""):  # libyaml reads ahead and has a bound of its own, since 6.0.4
            raise _too_deep(error.problem_mark) from None
        raise
    return yaml.compose(text, Loader=_LOADER)


def _too_deep(mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem="nested too deeply for an allowlist", problem_mark=mark)


_MAX_DEPTH = 8
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = "tag:yaml.org,2002:null"


def _did_you_mean(key: str) -> str:
    close = difflib.get_close_matches(key, _KEYS, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known keys: {', '.join(_KEYS)}"
