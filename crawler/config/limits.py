"""Where a run ends at the latest: Scrapy's limits, of which `--limit` is the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Numbers(Protocol):
    """Settings that are read as numbers, as Scrapy's are."""

    def getint(self, name: str) -> int:
        """A whole number; 0 where it is not set."""

    def getfloat(self, name: str) -> float:
        """A number; 0.0 where it is not set."""


@dataclass(frozen=True, slots=True)
class Limits:
    """0 = no limit. kept: documents; pages: requests for pages and sitemaps, whatever answers them; seconds: since the
    start of the run."""

    kept: int = 0
    pages: int = 0
    seconds: float = 0.0

    def after(self, kept: int, pages: int, seconds: float) -> Limits | None:
        """What is left of them once so much is done; None where one is reached."""
        if 0 < self.kept <= kept or 0 < self.pages <= pages or 0 < self.seconds <= seconds:
            return None
        return Limits(self.kept and self.kept - kept, self.pages and self.pages - pages,
                      self.seconds and self.seconds - seconds)  # fmt: skip

    @property
    def settings(self) -> dict[str, float]:
        """By the names that Scrapy gives them, without those that are not set."""
        named = {
            "CLOSESPIDER_ITEMCOUNT": self.kept,
            "CLOSESPIDER_PAGECOUNT": self.pages,
            "CLOSESPIDER_TIMEOUT": self.seconds,
        }
        return {name: value for name, value in named.items() if value}

    @classmethod
    def of(cls, settings: Numbers, workers: int = 1) -> Limits:
        """Those of so many workers together: each ends by its own counts."""
        return cls(
            workers * settings.getint("CLOSESPIDER_ITEMCOUNT"),
            workers * settings.getint("CLOSESPIDER_PAGECOUNT"),
            settings.getfloat("CLOSESPIDER_TIMEOUT"),
        )
