"""The crawl while it works: a few live lines on a terminal, one log line every 30 s elsewhere.

Fed by a plain `Counters`; knows neither Scrapy nor Redis. `crawler/observe/live/extension.py` feeds it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from crawler.observe.report.terminal import duration, size

logger = logging.getLogger(__name__)

LOG_SECONDS = 30.0
RATE_SECONDS = 10.0
TOP_REASONS = 4


@dataclass(slots=True)
class ArchiveCounters:
    """Where a replay stands: records and bytes read of its archives. total_bytes: None where a server does not say."""

    records: int = 0
    read_bytes: int = 0
    before_bytes: int = 0  # read by an earlier run
    total_bytes: int | None = None

    def line(self, seconds: float) -> str:
        """Records, bytes, and how long the rest takes if it goes on as in these seconds."""
        done = f"{self.records:,} records, {size(self.read_bytes)}"
        if not self.total_bytes:
            return f"{done} read"
        new, left = self.read_bytes - self.before_bytes, max(0, self.total_bytes - self.read_bytes)
        ahead = f", about {duration(left * seconds / new)} left" if new > 0 and left else ""
        return f"{done} of {size(self.total_bytes)} read{ahead}"


@dataclass(slots=True)
class Counters:
    """Where the crawl stands. Counts are of this worker, except queued and leased (all workers)."""

    queued: int = 0
    leased: int = 0
    fetched: int = 0
    fetched_bytes: int = 0
    kept: int = 0
    rejected: dict[str, int] = field(default_factory=dict)  # by "stage/reason"
    held: int = 0
    domains: list[str] = field(default_factory=list)  # in work now
    archives: ArchiveCounters | None = None  # in a replay

    @property
    def judged(self) -> int:
        """Documents with a verdict."""
        return self.kept + sum(self.rejected.values())


class Progress:
    """Shows `Counters` on `console`. Call `start()`, then `tick(counters)` about once a second, then `stop()`.

    `clock` returns monotonic seconds. `live` is decided by the console where it is None.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float], live: bool | None = None) -> None:
        self._console, self._clock = console, clock
        self._is_live = console.is_terminal if live is None else live
        self._live: Live | None = None
        self._started = self._logged = clock()
        self._history: deque[tuple[float, int]] = deque([(self._started, 0)])
        self._spinner = Spinner("dots", style="cyan")

    def start(self) -> None:
        """Begin to show; on a terminal the lines are redrawn in place and removed at the end."""
        self._started = self._logged = self._clock()
        self._history = deque([(self._started, 0)])
        if self._is_live:
            self._live = Live(Text(""), console=self._console, transient=True, auto_refresh=False)
            self._live.start()

    def tick(self, counters: Counters) -> None:
        """Show these numbers."""
        now = self._clock()
        self._history.append((now, counters.judged))
        while len(self._history) > 2 and self._history[0][0] < now - RATE_SECONDS:
            self._history.popleft()
        if self._live is not None:
            self._live.update(self._picture(counters, now), refresh=True)
        elif now - self._logged >= LOG_SECONDS:
            self._logged = now
            logger.info("%s", self.line(counters))

    def stop(self) -> None:
        """Remove the live lines; safe to call twice."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def line(self, counters: Counters) -> str:
        """The state of the crawl in one line."""
        if counters.archives is not None:
            read = counters.archives.line(self._clock() - self._started)
            verdicts = f"{counters.kept} kept, {counters.judged - counters.kept} rejected"
            return f"{verdicts}, {read}, {self.rate():.1f} documents/s"
        return (
            f"{counters.kept} kept, {counters.judged - counters.kept} rejected, {counters.held} on hold, "
            f"{counters.fetched} fetched, {counters.queued} queued, {counters.leased} in work, "
            f"{self.rate():.1f} pages/s"
        )

    def rate(self) -> float:
        """Documents with a verdict per second over the last ten seconds."""
        (first, before), (last, after) = self._history[0], self._history[-1]
        return (after - before) / (last - first) if last > first else 0.0

    def _picture(self, counters: Counters, now: float) -> RenderableType:
        head = Table.grid(padding=(0, 1))
        head.add_row(self._spinner, self._numbers(counters, now))
        lines: list[RenderableType] = [head]
        if reasons := sorted(counters.rejected.items(), key=lambda item: (-item[1], item[0]))[:TOP_REASONS]:
            lines.append(Text("  not kept  " + "   ".join(f"{name} {count:,}" for name, count in reasons), "dim"))
        if counters.archives is not None:
            lines.append(Text("  archives  " + counters.archives.line(now - self._started), "dim"))
        if counters.domains:
            more = f" +{len(counters.domains) - 3}" if len(counters.domains) > 3 else ""
            lines.append(Text("  in work   " + ", ".join(counters.domains[:3]) + more, "dim", overflow="ellipsis"))
        return Group(*lines)

    def _numbers(self, counters: Counters, now: float) -> Text:
        return Text.assemble(
            (f"{counters.kept:,}", "bold green"),
            " kept  ",
            (f"{counters.judged - counters.kept:,}", "bold yellow"),
            " rejected  ",
            (f"{counters.held:,} on hold  " if counters.held else "", "cyan"),
            (f"{counters.queued:,}", "bold"),
            " queued  ",
            (f"{self.rate():.1f}", "bold"),
            " pages/s  ",
            (f"{size(counters.fetched_bytes)}  {duration(now - self._started)}", "dim"),
        )
