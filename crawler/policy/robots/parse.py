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
from collections.abc import Collection, Iterator, KeysView
from dataclasses import dataclass, field

from crawler.policy.robots.delay import request_rate, seconds_of
from crawler.policy.robots.group import EVERYBODY, Group, Record
from crawler.policy.robots.match import Rule, RuleSet, normalize

MAX_BYTES = 512_000
"""Parsed at most; RFC 9309 section 2.5 asks for at least 500 KiB."""
MAX_LINE = 16_664
"""Bytes of one line that are read: eight times the longest URL that is fetched (2,083), as in Google's parser."""
MAX_GROUPS = 2_000
MAX_RULES = 50_000

_AGENT_KEYS = frozenset({"useragent", "useragents", "users-agent", "useg-agent", "ser-agent", "user-agnet"})
_DISALLOW_KEYS = frozenset(
    {"dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow", "dissalaw", "diallow"} | {"dsallow"}
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
_KEY_GAPS = re.compile(rb"(?:[\s_-]|\xe2\x80[\x90-\x95]|\xc2\xa0)+")  # blanks and dashes, those of a text processor too


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
    in_doubt: bool = False  # a User-agent line may name more than the RFC reads in it
    _by_name: dict[str, list[Group]] = field(default_factory=dict, repr=False)
    _rule_sets: dict[tuple[str, bool], tuple[str, RuleSet]] = field(default_factory=dict, repr=False)
    _found: dict[str, list[Group]] = field(default_factory=dict, repr=False)

    def decide(self, product_token: str, path_and_query: str) -> RobotsDecision:
        """RFC 9309 section 2.2.2: the longest match decides, allow wins a tie, no match allows.

        Where a User-agent line may name more than the RFC reads in it, the path has to be allowed in both readings.
        `path_and_query` starts with "/" and has no fragment; "/robots.txt" itself is always allowed.
        """
        path = normalize(path_and_query.encode("utf-8", "surrogatepass") or b"/")
        if path == b"/robots.txt":
            return RobotsDecision(allowed=True)
        if self.closed:
            return RobotsDecision(allowed=False, rule=self.closed)
        token = product_token.lower()
        readings = (self._rules_for(token, in_doubt) for in_doubt in self._readings)
        return _strictest([_decision(rules.match(path), label) for label, rules in readings])

    def decide_named(self, name: str, path_and_query: str) -> RobotsDecision | None:
        """As `decide`, but for a group that names this bot explicitly: None where there is none, no `*` fallback."""
        readings = [rules for in_doubt in self._readings if (rules := self._rules_naming(name.lower(), in_doubt))]
        if not readings:
            return None
        path = normalize(path_and_query.encode("utf-8", "surrogatepass") or b"/")
        return _strictest([_decision(rules.match(path), name) for rules in readings])

    def records_for(self, product_token: str, key: str) -> list[Record]:
        """Extension records that apply to this crawler: global ones and those of its groups, in file order."""
        found = {r.line: r for records in self.readings_of(product_token, key) for r in records}
        return sorted(found.values(), key=lambda r: r.line)

    def readings_of(self, product_token: str, key: str) -> list[list[Record]]:
        """The records of `records_for` for each reading by itself: two where a User-agent line is in doubt.

        Two also where a record stands between User-agent lines: it is said of those before it, or of all of them (it
        does not end their run, RFC 9309 section 2.2.4; an empty line does, for whoever wrote it). For records of which
        one can take back another: neither reading may lift what the other says.
        """
        token, everybodys = product_token.lower(), [r for r in self.records if r.key == key]
        readings = []
        for in_doubt in self._readings:
            label, groups = self._groups_for(token, in_doubt)
            since = [(g.named_at(label, in_doubt=in_doubt), g) for g in groups]
            said = [(g, line, r) for line, g in since for r in g.records if r.key == key]
            before = [r for _, line, r in said if r.line > line]
            around = [r for g, line, r in said if r.line > line or g.is_together(r.line, line)]
            of_both = [before, around] if len(around) > len(before) else [before]
            readings += [sorted([*everybodys, *ours], key=lambda r: r.line) for ours in of_both]
        return readings

    def crawl_delay(self, product_token: str) -> float | None:
        """Seconds between requests by Crawl-delay or Request-rate: the slowest that applies; None = unsaid."""
        delays = [seconds_of(r.value) for r in self.records_for(product_token, "crawl-delay")]
        delays += [request_rate(r.value) for r in self.records_for(product_token, "request-rate")]
        return max((d for d in delays if d is not None), default=None)

    def may_name(self, names: Collection[str]) -> bool:
        """False where no group is for any of these bots (lower case), in whatever reading."""
        return self.in_doubt or not self._known.isdisjoint(names)

    @property
    def _known(self) -> KeysView[str]:
        if not self._by_name:
            for group in self.groups:
                for key in {*group.agents, *group.names}:
                    self._by_name.setdefault(key, []).append(group)
        return self._by_name.keys()

    @property
    def _readings(self) -> tuple[bool, ...]:
        """The RFC's reading, and where it differs the one in which a line names what it may have meant."""
        return (False, True) if self.in_doubt else (False,)

    def _groups_for(self, token: str, in_doubt: bool) -> tuple[str, list[Group]]:
        if named := self._groups_naming(token, in_doubt):
            return token, named
        fallback = self._groups_naming(EVERYBODY, in_doubt)
        return (EVERYBODY if fallback else ""), fallback

    def _groups_naming(self, name: str, in_doubt: bool) -> list[Group]:
        if not in_doubt:
            return self._by_name[name] if name in self._known else []
        if name not in self._found:
            self._found[name] = [g for g in self.groups if g.named_at(name, in_doubt=True) < sys.maxsize]
        return self._found[name]

    def _rules_for(self, token: str, in_doubt: bool) -> tuple[str, RuleSet]:
        key = token, in_doubt
        if key not in self._rule_sets:
            label, groups = self._groups_for(token, in_doubt)
            self._rule_sets[key] = label, RuleSet(rule for g in groups for rule in g.rules)
        return self._rule_sets[key]

    def _rules_naming(self, name: str, in_doubt: bool) -> RuleSet | None:
        groups = [g for g in self._groups_naming(name, in_doubt) if name in g.names or (in_doubt and g.may_mean(name))]
        key = f"named {name}", in_doubt
        if groups and key not in self._rule_sets:
            self._rule_sets[key] = name, RuleSet(rule for g in groups for rule in g.rules)
        return self._rule_sets[key][1] if groups else None


def parse(body: bytes) -> RobotsFile:
    """Read a robots.txt body (content-decoded bytes). Never raises."""
    robots = RobotsFile()
    robots.closed = unreadable(body)
    robots.truncated = len(body) > MAX_BYTES
    if not robots.closed:
        _Reader(robots).read(utf8(_cut_at_line_end(body[:MAX_BYTES]) if robots.truncated else body))
    return robots


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
        if not key:
            self._end_paragraph(line)
        elif key in _AGENT_KEYS or key.startswith("user-agent"):
            self._name_agent(line, value)
        elif key == "allow" or key in _DISALLOW_KEYS or key.startswith("disallow"):
            self._add_rule(line, key == "allow", value)
        elif key in _SITEMAP_KEYS:
            self.robots.sitemaps.append(value.decode("utf-8", "replace"))
        elif key in _RECORD_KEYS:
            if key == "license" and not value:
                return  # names no licence: the terms of RSL 1.0 are in the file that its URL points to, nowhere else
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
        self.group.add(value, line)
        self.robots.in_doubt |= bool(self.group.meant)

    def _end_paragraph(self, line: int) -> None:
        if self.group is not None and self.naming:
            self.group.ends.append(line)

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
    """(line number, lower-case key, value) of every line that has a key and a separator; all empty: an empty line."""
    names: dict[bytes, str] = {}  # a file has many lines and few keys
    for number, whole in enumerate(_LINE_END.split(text), start=1):
        line = _trimmed(whole[:MAX_LINE].split(b"#", 1)[0])
        if not line:
            if b"#" not in whole:
                yield number, "", b""
            continue
        key, colon, value = line.partition(b":")
        if not colon:  # Google's parser: a missing colon is forgiven where exactly two words stand
            words = line.split()
            if len(words) != 2:
                continue
            key, value = words
        name = names.get(key)
        if name is None:
            name = names[key] = _KEY_GAPS.sub(b"-", _trimmed(key)).lower().decode("ascii", "replace")
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


def _strictest(decisions: list[RobotsDecision]) -> RobotsDecision:
    return next((decision for decision in decisions if not decision.allowed), decisions[0])


def _decision(rule: Rule | None, label: str) -> RobotsDecision:
    if rule is None:
        return RobotsDecision(allowed=True, group=label)
    text = f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern[:200].decode('utf-8', 'backslashreplace')}"
    return RobotsDecision(allowed=rule.allow, rule=text, line=rule.line, group=label)
