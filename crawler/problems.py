"""What a person gave cannot be used, as sentences: settings, arguments, files, packages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LISTED = 30


class InputError(ValueError):
    """Something given cannot be used. `problems` holds one sentence each: what, where, what to do."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about a word that is not known: the one it is near to, else all of a short list."""
    names = list(known)
    if close := difflib.get_close_matches(word, names, n=1):
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(names)}" if len(names) <= _LISTED else ""


def check_names(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that do not exist, of `what` ("setting", "stage"). Raises: InputError, a sentence for each."""
    names = list(known)
    if unknown := [name for name in given if name not in names]:
        raise InputError([f"unknown {what} {name!r}{did_you_mean(name, names)}" for name in unknown])
