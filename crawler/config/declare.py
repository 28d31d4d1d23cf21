"""What a setting is: declared with its name, default, meaning and bounds; read, converted and checked.

The machinery behind `config.py`, where the settings themselves stand.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from crawler.problems import InputError

Getter = Callable[[str], Any]
"""Returns the raw value of a setting by name, or None where it is not set."""

T = TypeVar("T")

_LARGEST: dict[type, float] = {int: 2**53, float: 1e9}
"""What every clock and server can count up to, as seconds or bytes: above it the crawl would fail in the middle."""


class ConfigError(InputError):
    """One or more settings are unusable.

    `rest`: the configuration with defaults in their place, for checks that need one; None where there is none.
    """

    def __init__(self, problems: list[str], rest: Any = None) -> None:
        super().__init__(problems)
        self.rest = rest


def setting(
    name: str,
    default: Any,
    doc: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] | None = None,
    check: Callable[[Any], str | None] | None = None,
    digest: bool = True,
    gaps: bool = False,
) -> Any:
    """Declare one setting: its name, default, meaning with unit, and what is accepted.

    `check` returns a sentence ("expected …") where a value is unusable, else None. `digest=False` keeps a setting that
    cannot change any output (paths, addresses, speed) out of the configuration digest. `gaps=True` shows `check` the
    empty entries of a list, too, which are passed over otherwise.
    """
    meta = {
        "name": name,
        "doc": doc,
        "minimum": minimum,
        "maximum": maximum,
        "choices": choices,
        "check": check,
        "digest": digest,
        "gaps": gaps,
    }
    if isinstance(default, dict):
        return dataclasses.field(default_factory=lambda: dict(default), metadata=meta)
    return dataclasses.field(default=default, metadata=meta)


_USER_INFO = re.compile(r"//.*@")
_LOGIN = re.compile(r"(login=)(?!env:|file:)[^'\"&,]*")


def _shown(raw: Any) -> str:
    """The value as a message shows it: without a password, also where the address around it is broken."""
    return _LOGIN.sub(r"\1…", _USER_INFO.sub("//…@", repr(raw)))


def load_section(section: type[T], getter: Getter, problems: list[str]) -> T:
    """Read one section; what is unusable goes to `problems`, one sentence each, and stays at its default."""
    hints = typing.get_type_hints(section)
    values: dict[str, Any] = {}
    for f in fields(section):  # type: ignore[arg-type]  # section is always a dataclass
        raw = getter(f.metadata["name"])
        if raw is None or (raw == "" and not _takes_empty(hints[f.name])):
            continue
        try:
            values[f.name] = _checked(_convert(raw, hints[f.name], gaps=f.metadata["gaps"]), f.metadata)
        except ValueError as error:
            problems.append(f"{f.metadata['name']}={_shown(raw)}: {error}")
    return section(**values)


def _takes_empty(kind: Any) -> bool:
    """A text and a list may be empty, and then that is what was set; anything else set to nothing is not set."""
    return kind is str or typing.get_origin(kind) is tuple


def _checked(value: Any, meta: Mapping[str, Any]) -> Any:
    low, high, choices, check = meta["minimum"], meta["maximum"], meta["choices"], meta["check"]
    if high is None:
        high = _LARGEST.get(type(value))
    if low is not None and value < low:
        raise ValueError(f"expected at least {low:g}")
    if high is not None and value > high:
        raise ValueError(f"expected at most {high:g}")
    if choices and value not in choices:
        raise ValueError("expected one of " + ", ".join(choices))
    if check and (complaint := check(value)):
        raise ValueError(complaint)
    return value


def _convert(raw: Any, kind: Any, *, gaps: bool = False) -> Any:
    """Convert a raw value to the declared type; ValueError says what was expected."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        kind = next(a for a in args if a is not type(None))
        origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        items = raw if isinstance(raw, (list, tuple, set)) else _entries(str(raw), gaps=gaps)
        return tuple(_convert(item, args[0]) for item in items)
    return _SCALARS[kind](raw)


def _entries(text: str, *, gaps: bool) -> list[str]:
    entries = [entry.strip() for entry in text.split(",")] if text else []
    return entries if gaps else [entry for entry in entries if entry]


def _to_bool(raw: Any) -> bool:
    text = str(raw).strip().lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off"}:
        return False
    raise ValueError("expected True or False")


def _to_int(raw: Any) -> int:
    try:
        number = float(raw) if not isinstance(raw, str) else int(raw.replace("_", ""))
    except ValueError:
        raise ValueError("expected a whole number") from None
    if number != int(number):
        raise ValueError("expected a whole number")
    return int(number)


def _to_float(raw: Any) -> float:
    try:
        number = float(raw)
    except (TypeError, ValueError):
        raise ValueError("expected a number") from None
    if not math.isfinite(number):
        raise ValueError("expected a finite number")
    return number


_SCALARS: dict[Any, Callable[[Any], Any]] = {bool: _to_bool, int: _to_int, float: _to_float, str: str}
