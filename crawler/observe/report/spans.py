"""How long a crawl was at work: workers side by side count once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from crawler.storage.types import Run


def seconds_at_work(runs: Iterable[Run]) -> float:
    """Length of the union of all runs that have ended: workers side by side count once."""
    spans = sorted((_epoch(run["started"]), _epoch(run["ended"])) for run in runs if run["ended"])
    total, reached = 0.0, float("-inf")
    for start, end in spans:
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
