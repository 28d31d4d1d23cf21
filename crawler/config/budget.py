"""FRONTIER_BUDGET: what a crawl may spend, as entries such as kept:500, run.money:5 and seed.kept:50."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

FIGURES: Mapping[str, str] = {
    "fetched": "pages handed to workers",
    "kept": "pages kept",
    "bytes": "bytes received",
    "hours": "hours in which at least one worker is at work",
    "money": "price of it all by the COST_ settings",
}
"""What can be limited, in the order of the script."""
ALL, RUN, SEED = "in_all", "run", "seed"
OF_SEED = tuple(name for name in FIGURES if name != "fetched")
"""What a seed can be limited in here: pages taken of it are FRONTIER_MAX_PAGES_PER_DOMAIN."""
_NAME = "run.name"


def budget_of(entries: Sequence[str]) -> tuple[dict[str, dict[str, float]], str]:
    """Bounds by reach (in_all, run, seed) and figure, and the name of the run. Raises: ValueError, "expected …"."""
    found: dict[str, dict[str, float]] = {}
    run = ""
    for entry in entries:
        name, _, value = entry.partition(":")
        if name == _NAME:
            run = value
            continue
        of, dot, figure = name.rpartition(".")
        reach = of if of in (RUN, SEED) else ALL if not dot else ""
        try:
            bound = float(value)
        except ValueError:
            bound = math.nan
        if not reach or figure not in FIGURES or not (math.isfinite(bound) and bound > 0):
            raise ValueError(f"expected {', '.join(FIGURES)} with a number above 0, such as kept:500, not {entry!r}")
        if reach == SEED and figure not in OF_SEED:
            raise ValueError(f"expected FRONTIER_MAX_PAGES_PER_DOMAIN for pages of a seed, not {entry!r}")
        if figure in found.setdefault(reach, {}):
            raise ValueError(f"expected {name} once")
        found[reach][figure] = bound
    if RUN in found and not run:
        raise ValueError(f"expected {_NAME}:NAME beside limits of a run, the same for all its workers")
    return found, run


def check_budget(entries: tuple[str, ...]) -> str | None:
    """What is wrong with the entries; None where nothing is."""
    try:
        budget_of(entries)
    except ValueError as error:
        return str(error)
    return None
