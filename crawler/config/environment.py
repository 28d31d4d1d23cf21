"""Settings from the environment: `CRAWLER_<NAME>` says what NAME is, where the command line does not.

Precedence: command line, then environment, then `settings.py`, then the default.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping

PREFIX = "CRAWLER_"
_NO_SETTINGS = frozenset({"CRAWLER_SHARED_DATA"})
"""Variables with the prefix that are read by something else: where the project's tests find public data."""


def from_environment(environ: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
    """The settings out of `known` that the environment names, as text. A variable that is empty counts as unset."""
    return {name: value for variable, value in environ.items() if value and (name := _named(variable, known))}


def problems_of_environment(environ: Mapping[str, str], known: Collection[str]) -> list[str]:
    """Variables with the prefix that name no setting, one sentence each."""
    unknown = sorted(v for v in environ if v.startswith(PREFIX) and v not in _NO_SETTINGS and not _named(v, known))
    return [f"the environment sets {variable}, which is not a setting{_hint(variable, known)}" for variable in unknown]


def _named(variable: str, known: Collection[str]) -> str | None:
    """CRAWLER_DOWNLOAD_DELAY means DOWNLOAD_DELAY; CRAWLER_CONTACT is a setting's name as it stands."""
    if not variable.startswith(PREFIX):
        return None
    name = variable.removeprefix(PREFIX)
    return name if name in known else variable if variable in known else None


def _hint(variable: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(variable.removeprefix(PREFIX), known, n=1, cutoff=0.7)
    return f"; did you mean {PREFIX}{near[0].removeprefix(PREFIX)}?" if near else ": docs/settings.md lists them"
