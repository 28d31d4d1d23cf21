"""What is on hold now is what the latest run left open that told it; what earlier runs left open is history.

A run that comes to its end records every URL that waits in the frontier. So of each crawl the holds of its last such
run are all there are; the records of the runs before stay, and say what they left open.
"""

from __future__ import annotations

from collections.abc import Iterable

from crawler.statkeys import LEFT_ON_HOLD
from crawler.storage.types import Entry, Made, Run

_Name = tuple[str, str, str]


def current(entries: Iterable[Entry], runs: Iterable[Run]) -> list[Entry]:
    """The entries of files whose holds still stand; all of them where no run has told (older versions)."""
    told: dict[str, Run] = {}
    for run in runs:
        if LEFT_ON_HOLD in run["counters"] and _end(run) >= _end(told.get(run["crawl_id"], run)):
            told[run["crawl_id"]] = run
    latest = {crawl: _name(run) for crawl, run in told.items()}
    return [entry for entry in entries if _stands(entry.get("made_by", []), latest)]


def _stands(makers: list[Made], latest: dict[str, _Name]) -> bool:
    return not makers or any(latest.get(made["crawl_id"], _name(made)) == _name(made) for made in makers)


def _name(made: Made | Run) -> _Name:
    return made["crawl_id"], made["worker_id"], made["started"]


def _end(run: Run) -> str:
    return run["ended"] or ""
