"""The yield rule: does a domain still give as much text as it used to?

The yield of a page is the characters that came out by the bytes that went in (`extraction_yield`). A site that puts up
a consent wall, or turns into an empty page that scripts fill, keeps answering 200: its yield falls. One page says
nothing, so the mean of the latest pages is compared with the mean of all pages before them, per registrable domain.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum

UNIT = 10_000
"""Yields are summed as whole ten-thousandths: the order of pages changes no sum."""


class Event(StrEnum):
    """What a page did to the state of its domain."""

    NOTHING = ""
    FELL = "fell"
    RECOVERED = "recovered"


@dataclass(slots=True)
class History:
    """One domain: sum and squares of its older pages, and its latest ones in their order. Yields in units of 1 / UNIT.

    The pages of a quarantine never join the sum, so that a wall that stays up does not become the measure.
    """

    pages: int = 0
    total: int = 0
    squares: int = 0
    latest: deque[int] = field(default_factory=deque)
    quarantined: bool = False

    @property
    def usual(self) -> float:
        """Mean yield of the older pages, 0 to 1 and above; 0 where there are none."""
        return self.total / self.pages / UNIT if self.pages else 0.0

    @property
    def spread(self) -> float:
        """Standard deviation of the yields of the older pages."""
        if not self.pages:
            return 0.0
        return math.sqrt(max(0, self.pages * self.squares - self.total**2)) / self.pages / UNIT

    @property
    def recent(self) -> float:
        """Mean yield of the latest pages."""
        return sum(self.latest) / len(self.latest) / UNIT if self.latest else 0.0

    def dump(self) -> str:
        """One line of numbers, about 100 bytes."""
        return " ".join(map(str, (self.pages, self.total, self.squares, int(self.quarantined), *self.latest)))

    @classmethod
    def load(cls, line: str) -> History:
        """What `dump` wrote; the empty line is a new history. Raises: ValueError for anything else."""
        if not line:
            return cls()
        pages, total, squares, quarantined, *latest = map(int, line.split())
        return cls(pages, total, squares, deque(latest), bool(quarantined))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the history says about the page just seen. `low`: it is one of those that made its domain fall."""

    low: bool
    event: Event
    usual: float
    recent: float


@dataclass(frozen=True, slots=True)
class YieldRule:
    """When a domain is quarantined, and which of its pages."""

    share: float = 0.6
    """Of the usual yield; below it lies the fall. 0 = off."""
    pages: int = 30
    """Older pages needed before anything is said."""
    window: int = 20
    """Latest pages whose mean is compared."""
    errors: float = 6.0
    """Standard errors that the mean must have fallen as well: on a site of rich and poor pages, twenty poor ones in a
    row are chance. (`docs/stages.md` has the figures.)"""

    def see(self, history: History, value: float) -> Judgement:
        """Take one page into the history, in place, and say what it means.

        A domain leaves its quarantine by itself once its latest pages are back at the share. Within a quarantine only
        pages under the share are `low`: a page as rich as those before is as good as they were.
        """
        history.latest.append(min(round(value * UNIT), 10 * UNIT))
        if len(history.latest) > self.window:
            oldest = history.latest.popleft()
            if not history.quarantined:
                history.pages += 1
                history.total += oldest
                history.squares += oldest**2
        was, known = history.quarantined, history.pages >= self.pages and len(history.latest) >= self.window
        limit = self.share * history.usual
        history.quarantined = known and history.recent < limit and self._is_no_chance(history)
        event = Event.NOTHING
        if history.quarantined != was:
            event = Event.FELL if history.quarantined else Event.RECOVERED
        return Judgement(history.quarantined and value < limit, event, history.usual, history.recent)

    def _is_no_chance(self, history: History) -> bool:
        error = history.spread / math.sqrt(len(history.latest))
        return history.usual - history.recent >= self.errors * error
