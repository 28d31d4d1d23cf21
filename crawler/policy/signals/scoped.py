"""Content-Usage and Content-Signal share rules of robots.txt that may start with a path."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.policy.robots.group import Record
from crawler.policy.robots.match import Rule, RuleSet, normalize


def applicable(readings: Iterable[Iterable[Record]], path: str) -> list[str]:
    """The values of the records with the longest path that matches; several where they have the same path.

    A record without a path covers everything, as `/` does (AIPREF attachment draft, section 4.2). Each of the file's
    readings (`RobotsFile.readings_of`) speaks for itself.
    """
    return list(dict.fromkeys(value for records in readings for value in _longest(records, path)))


def _longest(records: Iterable[Record], path: str) -> list[str]:
    by_path: dict[str, list[str]] = {}
    for record in records:
        head, *rest = record.value.split(maxsplit=1)  # at blanks and tabs
        scope, value = (head, "".join(rest)) if head.startswith("/") else ("/", record.value)
        by_path.setdefault(scope, []).append(value)
    scopes = list(by_path)
    rules = RuleSet(Rule(True, scope.encode(), number) for number, scope in enumerate(scopes))
    matched = rules.match(normalize(path.encode("utf-8", "surrogatepass")))
    return by_path[scopes[matched.line]] if matched else []
