"""A rule of robots.txt matches a path, in linear time (RFC 9309, sections 2.2.2 and 2.2.3).

Rules without a wildcard are found by looking up prefixes of the path in a table, so that 50,000 of them cost as much as
their number of different lengths; rules with a wildcard are tried one after the other, longest first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from crawler.policy.glob import glob_matches

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}|[^\x21-\x7e]")
_STARS = re.compile(rb"\*+")


@dataclass(slots=True, frozen=True)
class Rule:
    """One Allow or Disallow line: the pattern as written, and its line number (from 1)."""

    allow: bool
    pattern: bytes
    line: int


class RuleSet:
    """The merged rules of one crawler, ready to be matched."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._plain: dict[bytes, Rule] = {}
        self._globs: list[tuple[int, _Glob, Rule]] = []
        for rule in rules:
            self._add(rule)
        self._lengths = sorted({len(p) for p in self._plain}, reverse=True)
        self._globs.sort(key=lambda item: (-item[0], not item[2].allow))

    def _add(self, rule: Rule) -> None:
        anchored = rule.pattern.endswith(b"$")
        pattern = normalize_pattern(rule.pattern[:-1] if anchored else rule.pattern)
        if anchored or b"*" in pattern:
            self._globs.append((len(pattern) + anchored, _Glob(pattern, anchored), rule))
        elif pattern not in self._plain or (rule.allow and not self._plain[pattern].allow):
            self._plain[pattern] = rule

    def match(self, path: bytes) -> Rule | None:
        """The rule with the most octets that matches the normalized path; Allow wins a tie; None where none does."""
        length, best = self._longest_plain(path)
        for glob_length, glob, rule in self._globs:
            if glob_length < length:
                break
            if glob_length == length and (best is None or best.allow or not rule.allow):
                continue
            if glob.matches(path):
                return rule
        return best

    def _longest_plain(self, path: bytes) -> tuple[int, Rule | None]:
        for length in self._lengths:
            if length <= len(path) and (rule := self._plain.get(path[:length])):
                return length, rule
        return -1, None


class _Glob:
    """A pattern with `*` and perhaps a final `$`, cut into its literal pieces."""

    __slots__ = ("anchored", "pieces")

    def __init__(self, pattern: bytes, anchored: bool) -> None:
        self.pieces = _STARS.split(pattern)
        self.anchored = anchored

    def matches(self, path: bytes) -> bool:
        """True where the normalized path matches."""
        return glob_matches(self.pieces, path, anchored=self.anchored)


def normalize(path: bytes) -> bytes:
    """Percent-encoding made comparable (section 2.2.2): unreserved characters decoded, everything else upper-case hex.

    `*` and `$` in a URL are literal there, so they become `%2A` and `%24`, as a pattern has to write them.
    """
    return _comparable(path).replace(b"*", b"%2A").replace(b"$", b"%24")


def normalize_pattern(pattern: bytes) -> bytes:
    """The same for the path of a rule, where `*` stays a wildcard and a `$` that is not last is literal."""
    return _comparable(pattern).replace(b"$", b"%24")


def _comparable(raw: bytes) -> bytes:
    return _ESCAPE.sub(_escape, raw)


def _escape(match: re.Match[bytes]) -> bytes:
    found = match[0]
    if len(found) == 1:
        return b"%%%02X" % found[0]
    octet = int(found[1:], 16)
    return bytes((octet,)) if octet in _UNRESERVED else found.upper()
