"""Proposes query parameters that change no page of their domain, as the frontier knew them when the last run ended."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.statkeys import PARAMETER, PARAMETERS
from crawler.storage.types import Run

TITLE = "Query parameters that change no page, by pairs of equal pages (FRONTIER_LEARN_PARAMS=1 takes them off links)"


def parameters_of(runs: Iterable[Run]) -> dict[str, int]:
    """`domain:name`, as FRONTIER_TRACKING_PARAMS has it, and how many pairs of URLs brought the same page."""
    told = [
        run["counters"] for run in sorted(runs, key=lambda run: str(run["started"])) if PARAMETERS in run["counters"]
    ]
    found: dict[str, int] = {}
    for name, pairs in told[-1].items() if told else ():
        if name.startswith(f"{PARAMETER}/"):
            scope, _, parameter = name.removeprefix(f"{PARAMETER}/").partition("/")
            found[f"{scope}:{parameter}"] = pairs
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
