"""A batch is what was crawled in one go: the runs of one crawl whose times overlap, however many workers they had."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.storage.types import Made, Run

SEVERAL = "(several)"
"""The batch of a file whose records come from several batches, or that does not say which run made it."""
_NEVER = "9"  # behind every RFC 3339 time of this millennium: a run that is still at work


@dataclass(slots=True)
class Batch:
    """name: the crawl and when its first run began."""

    name: str
    runs: list[Run] = field(default_factory=list)

    def has(self, made: Made) -> bool:
        """True where one of the runs made it."""
        wanted = made["crawl_id"], made["worker_id"], made["started"]
        return any((run["crawl_id"], run["worker_id"], run["started"]) == wanted for run in self.runs)


def batches_of(runs: list[Run]) -> list[Batch]:
    """The batches of a manifest, in the order in which they began."""
    found: list[Batch] = []
    latest: dict[str, tuple[Batch, str]] = {}  # by crawl: its batch, and when that ends
    for run in sorted(runs, key=lambda run: (run["started"], run["worker_id"])):
        crawl, end = run["crawl_id"], run["ended"] or _NEVER
        batch, until = latest.get(crawl, (None, ""))
        if batch is None or run["started"] > until:
            batch = Batch(f"{crawl} {run['started']}")
            found.append(batch)
        batch.runs.append(run)
        latest[crawl] = batch, max(until, end)
    return found
