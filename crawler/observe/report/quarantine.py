"""Names the domains in quarantine when the crawl last looked at them (`crawler/quarantine/rule.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crawler.quarantine.rule import UNIT
from crawler.statkeys import QUARANTINED, QUARANTINED_AT
from crawler.storage.types import Run
from crawler.times import rfc3339

MEANING = (
    "pages of one kind say the same little since then, and wait in held/yield/: `gristmill quarantine` names the kind, "
    "with --release DOMAIN it keeps them"
)


def quarantined_of(runs: Iterable[Run], releases: Mapping[str, str]) -> dict[str, float]:
    """Domains and the yield of their latest pages as they fell, 0 to 1. What was said last counts, by whichever run.

    releases: the moment (RFC 3339, UTC) of the latest release by hand of each domain: what was said before is over.
    """
    found: dict[str, tuple[str, float]] = {}
    for run in sorted(runs, key=lambda run: str(run["started"])):
        for name, value in run["counters"].items():
            area, _, domain = name.rpartition("/")
            if area == QUARANTINED:
                said = run["counters"].get(f"{QUARANTINED_AT}/{domain}")
                when = rfc3339(said / 1000) if said else str(run["started"])
                if when >= max(releases.get(domain, ""), found.get(domain, ("",))[0]):
                    found[domain] = when, value / UNIT
    return {domain: share for domain, (_, share) in sorted(found.items()) if share}
