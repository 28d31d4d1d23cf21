"""Who may be crawled, and under which licence: the allowlist file, read before the first request.

A YAML list of domains; format: `docs/seeds.md`, example: `docs/examples/allowlist.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from crawler.config import yaml_file
from crawler.config.yaml_file import Value
from crawler.seeds import patterns
from crawler.seeds.allowlist_fields import LISTS, SCALARS
from crawler.seeds.hours import hours_of
from crawler.urls.canonicalize import canonicalize, host_and_path

MAX_FILE_BYTES = 64 * 2**20


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
    ttl_days: float | None = None  # age at which `gristmill dataset expire` removes a document; None = never
    js: str = ""  # "never", "auto", "always": when a browser renders its pages; empty = JS_MODE decides
    js_wait_selector: str | None = None  # CSS selector that the browser waits for
    js_wait: float | None = None  # seconds that the browser waits before it looks at a page
    js_routes: str = ""  # "hash": `#/…` and `#!…` name pages; empty = no fragment does
    js_capture: tuple[str, ...] = ()  # patterns of JSON that its pages fetch in the browser for their own content
    js_timeout: float | None = None  # seconds a page may take in the browser; None = BROWSER_TIMEOUT_SECONDS
    discovery: str = "sitemap"
    feeds: int | None = None  # that its pages name and each worker reads, of one host; None = FRONTIER_FEEDS
    profile: str = "auto"  # of the quality rules; auto = QUALITY_PROFILE decides
    comments: str = ""  # "keep", "drop", "separate": what readers wrote below a text; empty = COMMENTS decides
    hidden_text: str = ""  # "drop", "keep": what no reader sees; empty = HIDDEN_TEXT decides
    tracking: tuple[str, ...] = ()  # query parameters, in lower case, that name no page on this domain
    line: int = field(default=0, compare=False, repr=False)  # in the file, for messages; not stored

    @property
    def expires_at(self) -> float:
        """Seconds since the epoch from which the entry no longer holds; infinity where it never ends."""
        if self.expires is None:
            return float("inf")
        day = datetime.fromisoformat(self.expires).replace(tzinfo=UTC)
        return (day + timedelta(days=1)).timestamp()

    @property
    def choices(self) -> dict[str, str]:
        """What the entry asks of the stages, by the names of its settings; only what it says."""
        said = {"comments": self.comments, "hidden_text": self.hidden_text, "js_routes": self.js_routes}
        return {name: value for name, value in said.items() if value}

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
    """Read and check the whole file. Raises: InputError that lists every problem."""
    return yaml_file.read(Path(path), _entries, most=MAX_FILE_BYTES, what="a readable allowlist file")


def parse_allowlist(data: bytes, name: str = "allowlist") -> list[AllowlistEntry]:
    """`read_allowlist` on the file's bytes; `name` stands for the file in problems. Raises: InputError."""
    return yaml_file.parse(data, _entries, name)


_ALIASES = {"license": "licence", "wait_selector": "js_wait_selector"}
_REQUIRED = ("domain", "tier", "licence")
_KEYS = (*SCALARS, *LISTS, *_ALIASES)
_LIST = "expected a list of entries, each starting '- domain:'"
_ENTRY = "expected an entry with key: value pairs, starting '- domain: example.org'"
_Values = dict[str, Any]


def _entries(root: Value) -> list[AllowlistEntry]:
    values, defaults = _top(root)
    if not root.count and not values:
        root.problem(f"no domains: {_LIST}")
    entries: dict[str, AllowlistEntry] = {}
    for value in values:
        entry = _entry(value, defaults)
        if entry is not None and entry.domain in entries:
            first = entries[entry.domain].line
            value.problem(f"{entry.domain} is in line {first} already: merge the two", "domain")
        elif entry is not None:
            entries[entry.domain] = entry
    return list(entries.values())


def _top(root: Value) -> tuple[list[Value], _Values]:
    """The entries and the defaults: of a plain list, or of a mapping with `domains` and `defaults`."""
    if not root.is_mapping:
        return ([] if root.is_null else root.sequence(_LIST)), {}
    top = root.mapping(("domains", "defaults"))
    defaults = _values(top["defaults"].under(""), "expected key: value pairs") if "defaults" in top else {}
    defaults.pop("domain", None)
    return (top["domains"].under("").sequence(_LIST) if "domains" in top else []), defaults


def _entry(value: Value, defaults: _Values) -> AllowlistEntry | None:
    before = value.count
    values = {**defaults, **_values(value, _ENTRY)}
    if value.count == before:  # a misspelt key is not missing as well
        for key in _REQUIRED:
            if key not in values:
                value.problem(f"missing; every entry needs {', '.join(_REQUIRED)}", key)
    return AllowlistEntry(**values, line=value.line) if value.count == before else None


def _values(entry: Value, expected: str) -> _Values:
    values: _Values = {}
    for name, value in entry.mapping(_KEYS, expected).items():
        key = _ALIASES.get(name, name)
        if key in values:
            value.under(key).problem("given twice")
        elif key in LISTS and not value.is_null:
            items = [item.text(LISTS[key]) for item in value.one_or_more()]
            values[key] = tuple(item for item in items if item is not None)
        elif not value.is_null:
            values[key] = value.under(key).text(SCALARS[key])
    return values
