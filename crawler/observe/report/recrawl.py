"""What the latest run of a recrawl found, in numbers and in one sentence: from the counters in the manifest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from crawler.statkeys import RECRAWL, RESPONSE_BYTES, STAGES_CPU_MS, STAGES_DOCUMENTS
from crawler.storage.types import Run


@dataclass(frozen=True, slots=True)
class Recrawl:
    """The latest run, of one worker. `not_sent_bytes`: bodies that a 304 saved, as long as they were last time.

    `not_parsed` visits found a page as it was; `saved_cpu_ms` is that number times the CPU milliseconds that the
    stages needed for a page, on average over all runs of the corpus. `waiting` URLs have their next visit before
    them, none earlier than `next_at` (epoch seconds).
    """

    due: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    moved: int = 0
    decayed: int = 0
    opted_out: int = 0
    refused: int = 0
    withdrawn: int = 0
    failed: int = 0
    received_bytes: int = 0
    not_sent_bytes: int = 0
    not_parsed: int = 0
    saved_cpu_ms: int = 0
    waiting: int = 0
    next_at: int | None = None

    def findings(self) -> str:
        """What was found."""
        visits = self.changed + self.unchanged + self.gone + self.moved + self.decayed + self.failed
        if not self.due + self.new + visits:  # those of a run that was cut off were due before this one
            return "nothing was due"
        found = f"{self.new:,} new, {self.changed:,} changed, {self.unchanged:,} unchanged, {self.gone:,} gone, "
        found += f"{self.moved:,} moved, {self.decayed:,} decayed"
        others = {
            "opted out": self.opted_out,
            "refused by the site": self.refused,
            "withdrawn": self.withdrawn,
            "failed": self.failed,
        }
        return found + "".join(f", {count:,} {what}" for what, count in others.items() if count)

    def left(self) -> str:
        """What stays of pages to which their site says no by now, so that they are no documents any more; else empty.

        A page that opted out was withdrawn.
        """
        if not self.refused:
            return ""
        return "older texts and raw pages of those refused by the site stay until `dataset exclude` withdraws them"

    def outlook(self) -> str:
        """What comes next; empty where nothing waits."""
        if not self.waiting or self.next_at is None:
            return ""
        when = datetime.fromtimestamp(self.next_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        wait = "URL waits for its next visit" if self.waiting == 1 else "URLs wait for their next visit"
        return f"{self.waiting:,} {wait}, the first from {when}"


def recrawl_of(runs: list[Run]) -> Recrawl | None:
    """The latest run of a manifest; None where it was no recrawl (RECRAWL)."""
    counters: dict[str, int] = runs[-1]["counters"] if runs else {}
    found = {
        name.removeprefix(RECRAWL): value
        for name, value in counters.items()
        if name.startswith(RECRAWL) and name.removeprefix(RECRAWL) in Recrawl.__dataclass_fields__
    }
    if not found:
        return None
    saved = round(found.get("not_parsed", 0) * _cpu_a_page(runs))
    return Recrawl(**found, received_bytes=counters.get(RESPONSE_BYTES, 0), saved_cpu_ms=saved)


def _cpu_a_page(runs: list[Run]) -> float:
    """Milliseconds of CPU that the stages needed for a page, where the runs counted them."""
    counted = [run["counters"] for run in runs if STAGES_CPU_MS in run["counters"]]
    pages = sum(counters.get(STAGES_DOCUMENTS, 0) for counters in counted)
    return sum(counters[STAGES_CPU_MS] for counters in counted) / pages if pages else 0.0
