"""The yield rule: do the pages of one shape of URL still say what pages of this shape used to say?

A site that puts up a consent wall, a gate for robots or an error page keeps answering 200. Two things show it, and
neither alone: its pages give far less text than those before (in characters, or by the bytes they came in), and they
say the same. Short pages that say something of their own are healthy, in whatever order they come
(`docs/adr/stages-001-hollow-pages.md`).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from enum import StrEnum

from crawler.quarantine.sketch import Sketch, sketch_of

UNIT = 10_000
"""Yields are counted in whole ten-thousandths."""
_LOG = 1_000
"""Logarithms are summed as whole thousandths: the order of pages changes no sum."""
_FULL = ("-",)
"""Stands for the sketch of a page that gave as much as usual: nobody asks what it says."""


class Event(StrEnum):
    """What a page did to the state of its shape, or of its domain."""

    NOTHING = ""
    FELL = "fell"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Page:
    """What is remembered of a page: logarithms of its yield and its characters; what it says, where it gives little."""

    share: int
    size: int
    says: Sketch = _FULL

    @classmethod
    def of(cls, share: float, characters: int) -> Page:
        """share: characters by bytes, as in `extraction_yield`."""
        return cls(_log(max(share, 1 / UNIT)), _log(max(characters, 1)))

    def dump(self) -> str:
        """One word without spaces."""
        return f"{self.share}:{self.size}:{','.join(self.says)}"

    @classmethod
    def load(cls, word: str) -> Page:
        """What `dump` wrote. Raises: ValueError for anything else."""
        share, size, says = word.split(":")
        return cls(int(share), int(size), tuple(says.split(",")) if says else ())


@dataclass(slots=True)
class History:
    """One shape: sums over its older pages, and its latest ones in their order.

    The pages of a quarantine never join the sums, so that a wall that stays up does not become the measure.
    """

    pages: int = 0
    shares: int = 0
    sizes: int = 0
    quarantined: bool = False
    latest: deque[Page] = field(default_factory=deque)

    @property
    def usual(self) -> float:
        """Geometric mean of the yields of the older pages, 0 to 1 and above; 0 where there are none."""
        return math.exp(self.shares / self.pages / _LOG) if self.pages else 0.0

    @property
    def recent(self) -> float:
        """The same of the latest pages."""
        return math.exp(sum(page.share for page in self.latest) / len(self.latest) / _LOG) if self.latest else 0.0

    def dump(self) -> str:
        """One line: some 250 bytes, 200 more for each of the latest pages that gave little."""
        sums = self.pages, self.shares, self.sizes, int(self.quarantined)
        return " ".join([*map(str, sums), *(page.dump() for page in self.latest)])

    @classmethod
    def load(cls, line: str) -> History:
        """What `dump` wrote; the empty line is a new history. Raises: ValueError for anything else."""
        if not line:
            return cls()
        pages, shares, sizes, quarantined, *latest = line.split(" ")
        found = deque(map(Page.load, latest))
        return cls(int(pages), int(shares), int(sizes), quarantined == "1", found)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the history says about the page just seen. `low`: it is one of those that made its shape fall."""

    low: bool
    event: Event
    usual: float
    recent: float


@dataclass(frozen=True, slots=True)
class YieldRule:
    """When a shape is quarantined, and which of its pages."""

    share: float = 0.6
    """Of the usual characters or yield; below it a page gives little. 0 = off."""
    pages: int = 30
    """Older pages needed before anything is said."""
    window: int = 20
    """Latest pages that are looked at."""

    def see(self, history: History, share: float, text: str) -> Judgement:
        """Take one page into the history, in place, and say what it means. share: its yield; text: all it gave.

        A quarantine begins when three quarters of the latest pages are hollow: they give little, and half of what they
        say a quarter of the latest says too. It ends when fewer than a quarter are. Within it the hollow are `low`.
        """
        page = Page.of(share, len(text))
        if history.pages >= self.pages and self._gives_little(history, page):
            page = Page(page.share, page.size, sketch_of(text))
        history.latest.append(page)
        if len(history.latest) > self.window:
            self._grow_old(history, history.latest.popleft())
        common = self._common(history)
        hollow = sum(_is_hollow(each, common) for each in history.latest)
        was = history.quarantined
        history.quarantined = 4 * hollow >= self.window if was else 4 * hollow >= 3 * self.window
        event = Event.NOTHING
        if history.quarantined != was:
            event = Event.FELL if history.quarantined else Event.RECOVERED
        return Judgement(history.quarantined and _is_hollow(page, common), event, history.usual, history.recent)

    def _gives_little(self, history: History, page: Page) -> bool:
        fall = _log(self.share) if self.share else -math.inf
        return page.share < history.shares / history.pages + fall or page.size < history.sizes / history.pages + fall

    def _grow_old(self, history: History, page: Page) -> None:
        if not history.quarantined:
            history.pages += 1
            history.shares += page.share
            history.sizes += page.size

    def _common(self, history: History) -> set[str]:
        """Pieces that a quarter of the latest pages say."""
        said = Counter(piece for page in history.latest if page.says != _FULL for piece in page.says)
        return {piece for piece, pages in said.items() if pages >= max(2, self.window / 4)}


def _is_hollow(page: Page, common: set[str]) -> bool:
    """True for a page that gives little and says hardly anything of its own. One without text says nothing."""
    if page.says == _FULL:
        return False
    return 2 * sum(piece in common for piece in page.says) >= len(page.says)


def _log(value: float) -> int:
    return round(math.log(value) * _LOG)
