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

from crawler.config.limits import Limits
from crawler.number import duration, number_of, size
from crawler.observe.live.above import Above
from crawler.observe.live.time_left import Moment, TimeLeft
from crawler.observe.outcomes import Outcomes, outcomes

logger = logging.getLogger(__name__)

LOG_SECONDS = 30.0
QUIET = logging.ERROR
"""The LOG_LEVEL from which on nobody wants to hear how it goes."""
RATE_SECONDS = 10.0
TOP_REASONS = 4
TOP_DOMAINS = 3


@dataclass(slots=True)
class ArchiveCounters:
    """Where a replay stands: bytes of its archives up to the latest verdict, whatever is read ahead.

    total_bytes: None where a server does not say.
    """

    judged_bytes: int = 0
    total_bytes: int | None = None

    @property
    def left_bytes(self) -> int:
        """0 where nobody knows."""
        return max(0, (self.total_bytes or 0) - self.judged_bytes)

    def line(self) -> str:
        """How much of how much."""
        return f"{size(self.judged_bytes)}{f' of {size(self.total_bytes)}' if self.total_bytes else ''} judged"


@dataclass(frozen=True, slots=True)
class WorkerCounters:
    """One of several workers on this machine. cores: in use, 1.0 = one; memory: bytes of all its processes."""

    name: str
    state: str
    judged: int
    cores: float
    memory: int
    restarts: int


@dataclass(slots=True)
class Counters:
    """Where the crawl stands. Counts are of this worker, except queued, leased and held (all workers)."""

    queued: int = 0
    leased: int = 0
    pages: int = 0  # requests for pages and sitemaps, whatever answered them
    fetched: int = 0  # answers to all requests, control files among them
    fetched_bytes: int = 0
    kept: int = 0
    rejected: dict[str, int] = field(default_factory=dict)  # by "stage/reason": all that was not kept
    as_before: int = 0  # of the rejected: an earlier visit said the same of the page, as the summary counts it
    held: int = 0
    paused: bool = False  # by `gristmill frontier pause`, the whole crawl
    domains: list[str] = field(default_factory=list)  # of the URLs that are leased now: politeness scopes, sorted
    archives: ArchiveCounters | None = None  # in a replay
    workers: list[WorkerCounters] = field(default_factory=list)  # of `gristmill work`, whose sums these counts are

    @property
    def outcomes(self) -> Outcomes:
        """What became of the pages that were not kept."""
        return outcomes(self.rejected)

    @property
    def judged(self) -> int:
        """Pages that need no further try; one on hold is among `held` alone."""
        return self.kept + self.outcomes.judged


class Progress:
    """Shows `Counters` on `console`. Call `start()`, then `tick(counters)` about once a second, then `stop()`.

    `clock` returns monotonic seconds. `live` is decided by the console where it is None. limits: where the run ends.
    """

    def __init__(
        self, console: Console, *, clock: Callable[[], float], live: bool | None = None, limits: Limits | None = None
    ) -> None:
        self._console, self._clock, self._limits = console, clock, limits or Limits()
        self._is_live = console.is_terminal if live is None else live
        self._live: Live | None = None
        self._started = self._logged = clock()
        self._history: deque[tuple[float, int]] = deque([(self._started, 0)])
        self._by_worker: dict[str, deque[tuple[float, int]]] = {}
        self._left = TimeLeft(self._limits, self._started)
        self._spinner = Spinner("dots", style="cyan")
        self._above = Above(self.print)

    def start(self) -> None:
        """Begin to show; on a terminal the lines are redrawn in place, below the log, and removed at the end."""
        self._started = self._logged = self._clock()
        self._history = deque([(self._started, 0)])
        self._left = TimeLeft(self._limits, self._started)
        if self._is_live:
            self._live = Live(Text(""), console=self._console, transient=True, auto_refresh=False)
            self._live.start()
            self._above.begin()

    def tick(self, counters: Counters) -> None:
        """Show these numbers."""
        now = self._clock()
        _remember(self._history, now, counters.judged)
        if (moment := _moment(counters, now)) is not None:
            self._left.remember(moment)
        for worker in counters.workers:
            _remember(self._by_worker.setdefault(worker.name, deque()), now, worker.judged)
        if self._live is not None:
            self._live.update(self._picture(counters, now), refresh=True)
        elif now - self._logged >= LOG_SECONDS:
            self._logged = now
            _say(self.line(counters))

    def print(self, line: str) -> None:
        """A line of somebody's log, above the live lines, as it is."""
        self._console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def stop(self) -> None:
        """Remove the live lines; safe to call twice."""
        if self._live is not None:
            self._above.end()
            self._live.stop()
            self._live = None

    def line(self, counters: Counters) -> str:
        """The state of the crawl in one line."""
        verdicts = ", ".join(f"{count} {noun}" for noun, count, _ in _verdicts(counters))
        if counters.archives is not None:
            return f"{verdicts}, {self._archives(counters.archives)}, {self.rate():.1f} documents/s"
        return (
            f"{verdicts}, {counters.held} on hold, "
            f"{counters.fetched} fetched, {counters.queued} queued, {counters.leased} leased, "
            f"{self.rate():.1f} pages/s, {self._ahead(counters)}{_in_short(counters.workers)}"
        )

    def rate(self) -> float:
        """Pages with a verdict per second over the last ten seconds."""
        return _rate(self._history)

    def _picture(self, counters: Counters, now: float) -> RenderableType:
        head = Table.grid(padding=(0, 1))
        head.add_row(self._spinner, self._numbers(counters))
        received = f"{size(counters.fetched_bytes)} in " if counters.archives is None else ""
        spent = f"{received}{duration(now - self._started)}"
        lines: list[RenderableType] = [head, _dim(f"  so far    {spent}, {self.rate():.1f} pages/s")]
        if counters.archives is None:
            lines.append(_dim(f"  ahead     {counters.queued:,} queued; {self._ahead(counters)}"))
        rejected = counters.outcomes.rejected
        if reasons := sorted(rejected.items(), key=lambda item: (-item[1], item[0]))[:TOP_REASONS]:
            lines.append(_dim("  rejected  " + "   ".join(f"{name} {count:,}" for name, count in reasons)))
        if counters.archives is not None:
            lines.append(_dim("  archives  " + self._archives(counters.archives)))
        if counters.workers:
            lines.append(self._workers(counters.workers, now))
        if counters.domains:
            more = ["…"] if len(counters.domains) > TOP_DOMAINS else []
            lines.append(_dim("  domains   " + ", ".join(counters.domains[:TOP_DOMAINS] + more)))
        return Group(*lines)

    def _ahead(self, counters: Counters) -> str:
        return "paused: `gristmill frontier resume` goes on" if counters.paused else self._left.sentence()

    def _archives(self, archives: ArchiveCounters) -> str:
        left = self._left.seconds()
        return archives.line() + (f", about {duration(left)} left" if left is not None and archives.left_bytes else "")

    def _workers(self, workers: list[WorkerCounters], now: float) -> Table:
        """A line each: what it does, how fast, and what it takes of the machine."""
        table = Table.grid(padding=(0, 2))
        for worker in workers:
            history = self._by_worker.get(worker.name) or deque([(now, 0)])
            table.add_row(
                Text(f"  {worker.name}", "dim"),
                Text(worker.state, "dim" if worker.state == "working" else "yellow"),
                Text(f"{_rate(history):.1f} pages/s", "dim"),
                Text(f"{worker.cores:.1f} cores", "dim"),
                Text(size(worker.memory), "dim"),
                Text(f"restarted {worker.restarts}x" if worker.restarts else "", "yellow"),
            )
        return table

    def _numbers(self, counters: Counters) -> Text:
        line = Text(no_wrap=True, overflow="ellipsis")
        for noun, count, colour in _verdicts(counters):
            line.append(f"{count:,}", f"bold {colour}").append(f" {noun}  ")
        if counters.held:
            line.append(f"{counters.held:,} on hold", "cyan")
        return line


def _verdicts(counters: Counters) -> list[tuple[str, int, str]]:
    """Noun, count and colour of what has a verdict: kept and rejected always, the others where there are any."""
    found = counters.outcomes
    again = min(counters.as_before, found.rejections)
    always = [("kept", counters.kept, "green"), ("rejected", found.rejections - again, "yellow")]
    others = [("for review", found.for_review, "magenta"), ("unchanged", found.unchanged + again, "blue")]
    return always + [each for each in others if each[1]]


def _moment(counters: Counters, now: float) -> Moment | None:
    """None while a replay has no verdict yet: to load its models is no pace. Its archives are its queue."""
    if counters.archives is None:
        return Moment(now, counters.kept, counters.pages, counters.queued + counters.leased)
    begun = counters.kept or counters.rejected
    return Moment(now, counters.kept, 0, counters.archives.left_bytes) if begun else None


def _dim(line: str) -> Text:
    """A line that is cut at the edge of the screen."""
    return Text(line, "dim", no_wrap=True, overflow="ellipsis")


def _say(line: str) -> None:
    """A log line of level INFO, also where LOG_LEVEL is WARNING, as it is where nobody has set it."""
    record = logger.makeRecord(logger.name, logging.INFO, __file__, 0, "%s", (line,), None)
    for handler in logging.getLogger().handlers:
        if handler.level < QUIET:
            handler.handle(record)


def _remember(history: deque[tuple[float, int]], now: float, count: int) -> None:
    history.append((now, count))
    while len(history) > 2 and history[0][0] < now - RATE_SECONDS:
        history.popleft()


def _rate(history: deque[tuple[float, int]]) -> float:
    """Counts a second, from the first to the last entry."""
    (first, before), (last, after) = history[0], history[-1]
    return (after - before) / (last - first) if last > first else 0.0


def _in_short(workers: list[WorkerCounters]) -> str:
    """Of `gristmill work`: how many workers do what, and what they take together."""
    if not workers:
        return ""
    working = sum(worker.state == "working" for worker in workers)
    cores, memory = sum(worker.cores for worker in workers), sum(worker.memory for worker in workers)
    restarts = sum(worker.restarts for worker in workers)
    again = f", {number_of(restarts, 'restart')}" if restarts else ""
    return f", {working} of {len(workers)} workers, {cores:.1f} cores, {size(memory)}{again}"
