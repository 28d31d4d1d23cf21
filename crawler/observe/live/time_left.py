"""How long a crawl or a replay still takes, by its limits and its pace; an honest "unknown" where neither says it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from crawler.config.limits import Limits
from crawler.number import duration

WINDOW_SECONDS = 60.0
"""The pace is that of the last minute: pages come and go in waves."""
FIRST_SECONDS = 10.0
"""Before that nothing is said of the pace."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a run stands. pages: requests for pages; open: URLs in the queue and leased, of all workers; of a replay
    the bytes that are not judged. at: monotonic seconds."""

    at: float
    kept: int
    pages: int
    open: int


class TimeLeft:
    """Tell it each moment by `remember`, then ask for the `sentence`."""

    def __init__(self, limits: Limits, started: float) -> None:
        self._limits, self._started = limits, started
        self._moments: deque[Moment] = deque()

    def remember(self, moment: Moment) -> None:
        """A new moment; those before the window go."""
        self._moments.append(moment)
        while len(self._moments) > 2 and self._moments[0].at < moment.at - WINDOW_SECONDS:
            self._moments.popleft()

    def sentence(self) -> str:
        """Such as `about 3 min 20 s left`, or why nobody can say it."""
        if not self._moments:
            return "time left: not known yet"
        if (left := self.seconds()) is not None:
            return f"about {duration(left)} left"
        first, last = self._moments[0], self._moments[-1]
        if not last.open and last.pages:
            return "the queue is empty"
        if last.at - first.at < FIRST_SECONDS:
            return "time left: not known yet"
        return f"time left: unknown, the queue {'grows' if last.open > first.open else 'does not get shorter'}"

    def seconds(self) -> float | None:
        """Until the nearest end; None where nobody can say it."""
        if not self._moments:
            return None
        left = [seconds for seconds in (*self._by_limits(), self._by_queue()) if seconds is not None]
        return max(0.0, min(left)) if left else None

    def _by_limits(self) -> list[float | None]:
        last = self._moments[-1]
        seconds = self._limits.seconds
        return [
            seconds - (last.at - self._started) if seconds else None,
            self._until(self._limits.kept, last.kept, self._moments[0].kept),
            self._until(self._limits.pages, last.pages, self._moments[0].pages),
        ]

    def _until(self, limit: int, now: int, before: int) -> float | None:
        """Seconds until a count reaches its limit at this pace; None without a limit, or while nothing comes."""
        span = self._span()
        if not limit or span is None or now <= before:
            return None
        return max(0, limit - now) * span / (now - before)

    def _by_queue(self) -> float | None:
        """Seconds until the queue is empty, where it has got shorter since it was longest: what pages add to it is in
        its pace. At the start of a crawl it grows first."""
        longest, last = max(self._moments, key=lambda moment: (moment.open, moment.at)), self._moments[-1]
        gone, span = longest.open - last.open, last.at - longest.at
        return last.open * span / gone if span >= FIRST_SECONDS and gone > 0 else None

    def _span(self) -> float | None:
        span = self._moments[-1].at - self._moments[0].at
        return span if span >= FIRST_SECONDS else None
