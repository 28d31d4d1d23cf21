"""spaCy's expressions name letters by sets of 105,000 characters; here a process compiles each such set once.

A language's expressions hold such sets up to twenty times, and Python 3.11 takes 1.3 ms for each: it cost 30 ms of a
process's first text in every language. The expressions match what they matched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from typing import Any

from spacy.lang.char_classes import ALPHA, ALPHA_LOWER, ALPHA_UPPER

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|.)", re.DOTALL)
_STRETCH = re.compile(r"([^\\])(?:-([^\\]))?", re.DOTALL)
_NAME = "_optimize_charset"


@cache
def shortened(expression: str) -> str:
    """An expression that is read in less time, and means the same.

    Characters stand there themselves, not their numbers, and spaCy's sets of letters in stretches: 70, not 600 pieces.
    """
    for letters in (ALPHA, ALPHA_LOWER, ALPHA_UPPER):
        expression = expression.replace(letters, _in_stretches(letters))
    return _written_out(expression)


def _written_out(expression: str) -> str:
    return _ESCAPE.sub(lambda found: _character(found) or found[0], expression)


def _character(escape: re.Match[str]) -> str:
    """The character of an escape; empty for other escapes, and for what may mean something by itself."""
    code = int(escape[1] or escape[2] or "0", 16)
    return chr(code) if code >= 0x80 else ""


@cache
def _in_stretches(letters: str) -> str:
    """The inside of a set with what stands side by side in Unicode put together."""
    ends = sorted((ord(found[1]), ord(found[2] or found[1])) for found in _STRETCH.finditer(_written_out(letters)))
    merged = ends[:1]
    for first, last in ends[1:]:
        if first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return "".join(f"{chr(first)}-{chr(last)}" if last > first else chr(first) for first, last in merged)


@contextmanager
def sets_compiled_once() -> Iterator[None]:
    """While this lasts, `re.compile` looks up the sets that it has compiled like this before.

    Where Python's compiler has no such function to ask, nothing changes.
    """
    compiler: Any = import_module("re._compiler")
    asked = getattr(compiler, _NAME, None)
    if asked is None:
        yield
        return
    setattr(compiler, _NAME, partial(_remembered, asked))
    try:
        yield
    finally:
        setattr(compiler, _NAME, asked)


_sets: dict[tuple[Any, ...], Any] = {}


def _remembered(asked: Callable[..., Any], charset: list[Any], *letter_case: Any) -> Any:
    """What the compiler makes of a set; `letter_case`: how it folds it, functions and a table that never change."""
    key = (*charset, *map(id, letter_case))
    if key not in _sets:
        _sets[key] = asked(charset, *letter_case)
    return _sets[key]
