"""A robots.txt is parsed from bytes after RFC 9309, and keeps its extension records.

`parse(body)` never raises and runs in linear time. A file that cannot be read, or that is larger than the caps, is
*closed*: it disallows everything and says why.

Where the RFC leaves a choice, the engine takes the reading of Google's open-source parser (common misspellings, a
missing colon), because those lines are a site owner's wish that was only typed badly.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterator, KeysView
from dataclasses import dataclass, field

from crawler.policy.robots.match import Rule, RuleSet, normalize

MAX_BYTES = 512_000
"""Parsed at most; RFC 9309 section 2.5 asks for at least 500 KiB."""
MAX_LINE = 16_664
"""Bytes of one line that are read: eight times the longest URL that is fetched (2,083), as in Google's parser."""
MAX_GROUPS = 2_000
MAX_RULES = 50_000

_AGENT_KEYS = frozenset(
    {"user-agent", "useragent", "user-agents", "users-agent", "useg-agent", "ser-agent", "user-agnet"}
)
_DISALLOW_KEYS = frozenset(
    {"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow", "dissalaw", "diallow"}
    | {"dsallow", "disallows"}
)
_SITEMAP_KEYS = frozenset({"sitemap", "site-map", "sitemaps"})
_GLOBAL_KEYS = frozenset({"license"})
_RECORD_KEYS = _GLOBAL_KEYS | {"crawl-delay", "request-rate", "content-signal", "content-usage"}
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLANKS = " \t\n\r\x0b\x0c\0\x85\xa0\u2028\u2029\u202f\u3000\ufeff" + "".join(
    map(chr, (*range(0x2000, 0x2010), 0x2060))
)
_ORIGIN = re.compile(rb"\Ahttps?://[^/?#*]*", re.IGNORECASE)
_LINE_END = re.compile(rb"\r\n|\r|\n")
_PRODUCT_TOKEN = re.compile(rb"[A-Za-z_-]+")
_RAW_NAME = re.compile(rb"[A-Za-z0-9_.-]+")
_RATE = re.compile(r"(\d{1,6})\s*/\s*(\d{1,6})\s*([smhd]?)", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"(?:\d{1,9}(?:[.,]\d{0,9})?|[.,]\d{1,9})(?:e\d{1,3})?", re.ASCII | re.IGNORECASE)
_UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


@dataclass(slots=True, frozen=True)
class Record:
    """One extension line: its lower-case key, its raw value, and the line number (from 1)."""

    key: str
    value: str
    line: int


@dataclass(slots=True)
class Group:
    """Consecutive user-agent lines and what follows them.

    `agents` are lower-case product tokens as RFC 9309 section 2.2.1 cuts them; `names` are the same values cut less
    (digits and dots kept), for bots such as `AI2Bot` whose names are no RFC tokens. The values are line numbers: rules
    apply to every agent of the group, extension records to those that were named before them.
    """

    agents: dict[str, int] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    def first_named(self, token: str) -> int:
        """Line that names this agent for the first time; sys.maxsize where none does."""
        return min(self.agents.get(token, sys.maxsize), self.names.get(token, sys.maxsize))


@dataclass(slots=True, frozen=True)
class RobotsDecision:
    """May this path be fetched? `rule` and `line` are those of the deciding line ("" and 0 where none matched).

    `group` is "*", the product token, or "" where no group applies.
    """

    allowed: bool
    rule: str = ""
    line: int = 0
    group: str = ""


@dataclass(slots=True)
class RobotsFile:
    """One parsed robots.txt. `closed` is empty, or the reason why everything is disallowed."""

    groups: list[Group] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)  # before the first group, or global by definition
    sitemaps: list[str] = field(default_factory=list)
    closed: str = ""
    truncated: bool = False
    _by_name: dict[str, list[Group]] = field(default_factory=dict, repr=False)
    _rule_sets: dict[str, tuple[str, RuleSet]] = field(default_factory=dict, repr=False)

    def decide(self, product_token: str, path_and_query: str) -> RobotsDecision:
        """RFC 9309 section 2.2.2: the longest match decides, allow wins a tie, no match allows.

        `path_and_query` starts with "/" and has no fragment; "/robots.txt" itself is always allowed.
        """
        path = normalize(path_and_query.encode("utf-8", "surrogatepass") or b"/")
        if path == b"/robots.txt":
            return RobotsDecision(allowed=True)
        if self.closed:
            return RobotsDecision(allowed=False, rule=self.closed)
        label, rules = self._rules_for(product_token.lower())
        return _decision(rules.match(path), label)

    def decide_named(self, name: str, path_and_query: str) -> RobotsDecision | None:
        """As `decide`, but for a group that names this bot explicitly: None where there is none, no `*` fallback."""
        wanted = name.lower()
        groups = [g for g in self._groups_naming(wanted) if wanted in g.names]
        if not groups:
            return None
        key = f"named {wanted}"
        if key not in self._rule_sets:
            self._rule_sets[key] = name, RuleSet(rule for g in groups for rule in g.rules)
        path = normalize(path_and_query.encode("utf-8", "surrogatepass") or b"/")
        return _decision(self._rule_sets[key][1].match(path), name)

    def records_for(self, product_token: str, key: str) -> list[Record]:
        """Extension records that apply to this crawler: global ones and those of its groups, in file order."""
        label, groups = self._groups_for(product_token.lower())
        found = [r for r in self.records if r.key == key]
        found += [r for g in groups for r in g.records if r.key == key and r.line > g.first_named(label)]
        return sorted(found, key=lambda r: r.line)

    def crawl_delay(self, product_token: str) -> float | None:
        """Seconds between requests by Crawl-delay or Request-rate: the slowest that applies; None = unsaid."""
        delays = [_seconds(r.value) for r in self.records_for(product_token, "crawl-delay")]
        delays += [request_rate(r.value) for r in self.records_for(product_token, "request-rate")]
        return max((d for d in delays if d is not None), default=None)

    def _groups_for(self, token: str) -> tuple[str, list[Group]]:
        if named := self._groups_naming(token):
            return token, named
        fallback = self._groups_naming("*")
        return ("*" if fallback else ""), fallback

    @property
    def named(self) -> KeysView[str]:
        """Everything that a group is for, in lower case: product tokens, names in full, `*`."""
        if not self._by_name:
            for group in self.groups:
                for key in {*group.agents, *group.names}:
                    self._by_name.setdefault(key, []).append(group)
        return self._by_name.keys()

    def _groups_naming(self, name: str) -> list[Group]:
        return self._by_name[name] if name in self.named else []

    def _rules_for(self, token: str) -> tuple[str, RuleSet]:
        if token not in self._rule_sets:
            label, groups = self._groups_for(token)
            self._rule_sets[token] = label, RuleSet(rule for g in groups for rule in g.rules)
        return self._rule_sets[token]


def parse(body: bytes) -> RobotsFile:
    """Read a robots.txt body (content-decoded bytes). Never raises."""
    robots = RobotsFile()
    robots.closed = unreadable(body)
    robots.truncated = len(body) > MAX_BYTES
    if not robots.closed:
        _Reader(robots).read(utf8(_cut_at_line_end(body[:MAX_BYTES]) if robots.truncated else body))
    return robots


def request_rate(value: str) -> float | None:
    """Seconds between requests for a Request-rate value such as `10/1m`; None where it cannot be read."""
    match = _RATE.match(value)
    if not match or int(match[1]) == 0:
        return None
    return int(match[2]) * _UNIT_SECONDS[match[3].lower()] / int(match[1])


def unreadable(body: bytes) -> str:
    """Why these bytes cannot be read as robots.txt; empty where they can."""
    if body.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"%PDF-", b"PK\x03\x04")):
        return "robots.txt is a compressed or binary file"
    if not body.startswith(_UTF16_BOMS) and body.count(0) * 4 > len(body):
        return "robots.txt is not text in a known encoding"
    return ""


def utf8(body: bytes) -> bytes:
    """A text file as UTF-8, without a byte-order mark or what is left of one: no key begins with such a byte."""
    if body.startswith(_UTF16_BOMS):
        body = body.decode("utf-16", "replace").encode()
    return body.lstrip(codecs.BOM_UTF8)


def _cut_at_line_end(body: bytes) -> bytes:
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1] or body


class _Reader:
    """Feeds lines into a RobotsFile; holds the state between them (which group is being named or filled)."""

    def __init__(self, robots: RobotsFile) -> None:
        self.robots = robots
        self.group: Group | None = None
        self.naming = False  # no rule was seen since the last user-agent line
        self.rules = 0

    def read(self, text: bytes) -> None:
        for line, key, value in _records(text):
            self._take(line, key, value)
            if self.robots.closed:
                return

    def _take(self, line: int, key: str, value: bytes) -> None:
        if key in _AGENT_KEYS:
            self._name_agent(line, value)
        elif key == "allow" or key in _DISALLOW_KEYS:
            self._add_rule(line, key == "allow", value)
        elif key in _SITEMAP_KEYS:
            self.robots.sitemaps.append(value.decode("utf-8", "replace"))
        elif key in _RECORD_KEYS:
            record = Record(key, value.decode("utf-8", "replace"), line)
            in_group = self.group is not None and key not in _GLOBAL_KEYS
            (self.group.records if in_group and self.group else self.robots.records).append(record)

    def _name_agent(self, line: int, value: bytes) -> None:
        if self.group is None or not self.naming:
            if len(self.robots.groups) >= MAX_GROUPS:
                self.robots.closed = f"robots.txt has more than {MAX_GROUPS} groups"
                return
            self.group = Group()
            self.robots.groups.append(self.group)
        self.naming = True
        if value[:1] == b"*" and (len(value) == 1 or value[1:2].isspace()):
            self.group.agents.setdefault("*", line)
        elif match := _RAW_NAME.match(value):
            self.group.names.setdefault(match[0].decode().lower(), line)
            if token := _PRODUCT_TOKEN.match(value):
                self.group.agents.setdefault(token[0].decode().lower(), line)

    def _add_rule(self, line: int, allow: bool, value: bytes) -> None:
        self.naming = False
        if self.group is None or not value:
            return  # a rule before any group, or an empty one: nothing to apply it to, nothing to apply
        self.rules += 1
        if self.rules > MAX_RULES:
            self.robots.closed = f"robots.txt has more than {MAX_RULES} rules"
        if value[:1] not in b"/*":
            if allow:
                return  # not a path (section 2.2): an unclear permission permits nothing
            value = _path(value)  # an unclear prohibition still prohibits
        self.group.rules.append(Rule(allow, value, line))


def _records(text: bytes) -> Iterator[tuple[int, str, bytes]]:
    """(line number, lower-case key, value) of every line that has a key and a separator."""
    names: dict[bytes, str] = {}  # a file has many lines and few keys
    for number, whole in enumerate(_LINE_END.split(text), start=1):
        line = _trimmed(whole[:MAX_LINE].split(b"#", 1)[0])
        if not line:
            continue
        key, colon, value = line.partition(b":")
        if not colon:  # Google's parser: a missing colon is forgiven where exactly two words stand
            words = line.split()
            if len(words) != 2:
                continue
            key, value = words
        name = names.get(key)
        if name is None:
            name = names[key] = b"-".join(key.replace(b"_", b" ").split()).lower().decode("ascii", "replace")
        yield number, name, _trimmed(value)


def _path(value: bytes) -> bytes:
    """What a Disallow without a leading slash means. Of a whole URL its path; a whole host is usually another one."""
    path = _ORIGIN.sub(b"", value)
    return path if path.startswith(b"/") and path.strip(b"/*") else b"/" + value


def _trimmed(raw: bytes) -> bytes:
    """Without blanks around it, those included that nobody sees: they come with text that was copied from a page."""
    if raw.isascii() and b"\0" not in raw:
        return raw.strip()
    return raw.decode("utf-8", "surrogateescape").strip(_BLANKS).encode("utf-8", "surrogateescape")


def _decision(rule: Rule | None, label: str) -> RobotsDecision:
    if rule is None:
        return RobotsDecision(allowed=True, group=label)
    text = f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern[:200].decode('utf-8', 'backslashreplace')}"
    return RobotsDecision(allowed=rule.allow, rule=text, line=rule.line, group=label)


def _seconds(value: str) -> float | None:
    """The number that a value begins with; `10s` and `1,5` are a wish that was only typed badly."""
    number = _NUMBER.match(value)
    seconds = float(number[0].replace(",", ".")) if number else -1.0
    return seconds if 0 <= seconds < float("inf") else None
