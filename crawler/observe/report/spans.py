"""How long a crawl was at work: workers side by side count once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from crawler.storage.corpus.missing import writer_of
from crawler.storage.types import Entry, Run


def seconds_at_work(runs: Iterable[Run], files: Sequence[Entry] = ()) -> float:
    """Length of the union of all runs: workers side by side count once.

    A run without an end, at work or killed, lasts until the latest record that `files` have of its worker.
    """
    spans = sorted(span for run in runs if (span := _span(run, files)))
    total, reached = 0.0, float("-inf")
    for start, end in spans:
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _span(run: Run, files: Sequence[Entry]) -> tuple[float, float] | None:
    start, end = run["started"], run["ended"]
    if not end:
        own = (entry for entry in files if entry["writer"] == writer_of(run))
        end = max((at for entry in own if (at := entry["last_crawled_at"])), default="")
    return (_epoch(start), _epoch(end)) if end and _epoch(end) > _epoch(start) else None


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
