"""Names the domains in quarantine when the crawl last looked at them (`crawler/quarantine/rule.py`)."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.quarantine.rule import UNIT
from crawler.statkeys import QUARANTINED
from crawler.storage.types import Run

MEANING = "far less text than before: its poor pages are in rejected/; `gristmill quarantine --release DOMAIN` ends it"


def quarantined_of(runs: Iterable[Run]) -> dict[str, float]:
    """Domains and the mean yield of their latest pages as they fell, 0 to 1. What a later run says counts."""
    found: dict[str, float] = {}
    for run in sorted(runs, key=lambda run: str(run["started"])):
        for name, value in run["counters"].items():
            area, _, domain = name.rpartition("/")
            if area == QUARANTINED:
                found[domain] = value / UNIT
    return {domain: share for domain, share in sorted(found.items()) if share}
