"""Which parts do other packages add? Entry points of six groups, each named object loaded once a process.

A package that adds a stage, an opt-out signal, a rule set, a dataset operation, an export format or a language
identifier names the declared object in its own metadata:

    [project.entry-points."gristmill.stages"]
    safety = "their_package.safety:STAGE"

The entry point's name is the part's name. Every process that needs a part asks here by group, so that workers, the
stage processes, replay, Spark executors and commands find the same ones wherever the package is installed.
Source: https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from crawler.problems import InputError

GROUPS = ("stages", "signals", "rules", "operations", "formats", "languages")
"""The kinds of parts that other packages may add; the entry-point group is `gristmill.` and one of these."""

T = TypeVar("T")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")


@cache
def added(group: str, kind: type, taken: Collection[str] = frozenset()) -> dict[str, Any]:
    """Load the parts that installed packages add to `group`, by name in alphabetical order.

    kind: the class of every declared object of the group. taken: names of the built-in parts (a hashable collection).
    Raises: InputError listing every package whose part cannot be loaded, is of another kind, has a name that is no
    name or one that is taken.
    """
    assert group in GROUPS, group
    found: defaultdict[str, list[EntryPoint]] = defaultdict(list)
    for point in entry_points(group=f"gristmill.{group}"):
        found[point.name].append(point)
    problems: list[str] = []
    parts: dict[str, Any] = {}
    for name, points in sorted(found.items()):
        if complaint := _complaint(name, points, taken):
            problems.append(f"{_where(group, points)}: {complaint}")
            continue
        try:
            part = points[0].load()
        except Exception as error:  # whatever a foreign module raises while it is imported
            problems.append(
                f"{_where(group, points)}: {points[0].value} cannot be loaded ({type(error).__name__}: {error}); "
                "repair or uninstall the package"
            )
            continue
        if isinstance(part, kind) and getattr(part, "name", name) == name:
            parts[name] = part
        elif isinstance(part, kind):
            problems.append(
                f"{_where(group, points)}: {points[0].value} calls itself {part.name}; give both the same name"  # type: ignore[attr-defined]
            )
        else:
            problems.append(
                f"{_where(group, points)}: {points[0].value} is a {type(part).__name__}; expected a {kind.__name__}"
            )
    if problems:
        raise InputError(problems)
    return parts


def registry(group: str, kind: type, built_in: Mapping[str, T]) -> dict[str, T]:
    """The parts of a group by name: the built-in ones in their order, then those of other packages.

    Raises: InputError, as `added`.
    """
    return {**built_in, **added(group, kind, frozenset(built_in))}


def names(group: str) -> tuple[str, ...]:
    """The names that installed packages add to `group`, in alphabetical order; nothing is loaded."""
    return tuple(sorted({point.name for point in entry_points(group=f"gristmill.{group}")}))


def packages() -> dict[str, str]:
    """Name and version of every installed package that adds a part, for the manifest."""
    found = {}
    for group in GROUPS:
        for point in entry_points(group=f"gristmill.{group}"):
            if point.dist is not None:
                found[point.dist.name] = point.dist.version
    return dict(sorted(found.items()))


def _complaint(name: str, points: list[EntryPoint], taken: Collection[str]) -> str:
    if not _NAME.fullmatch(name):
        return "a part's name has lower-case letters, digits, - and _, and begins with a letter"
    if name in taken:
        return "gristmill has a part of this name; give yours another one"
    if len({point.value for point in points}) > 1:
        return "several packages add a part of this name; uninstall all but one"
    return ""


def _where(group: str, points: list[EntryPoint]) -> str:
    names = sorted({point.dist.name if point.dist is not None else "an unnamed package" for point in points})
    return f"{' and '.join(names)}, entry point gristmill.{group} {points[0].name}"
