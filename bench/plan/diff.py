"""`python -m bench.plan.diff`: what `plan diff` has said of a changed plan, held against what then happened.

Three times each an allowlist entry is added, one is removed, and a setting or limit is changed, on a made web. As many
pages have to be withdrawn as was said, fetched and kept pages within a tenth, money within a fifth; else exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.machine import commit, machine
from bench.plan.limits import kept_of
from bench.plan.site import Town, facts, gristmill, plan_text

PAGES, SITES = 200, 4
MAY_DIFFER: Mapping[str, float] = {"fetched": 0.1, "kept": 0.1, "money": 0.2, "withdrawn": 0.0}


class Row(NamedTuple):
    """One figure of one change."""

    change: str
    figure: str
    said: float
    happened: float

    @property
    def holds(self) -> bool:
        """True where it was said well enough."""
        return self.happened > 0 and abs(self.said - self.happened) <= MAY_DIFFER[self.figure] * self.happened


class Campaign:
    """A plan in a folder, which is changed, asked and run again and again."""

    def __init__(self, folder: Path, town: Town, pages: int) -> None:
        self._folder, self._town = folder, town
        self._sites = list(range(SITES))
        self._next = SITES
        self._settings: dict[str, Any] = {"COST_REQUEST": 1}
        self._pages = pages
        self.rows: list[Row] = []
        self._write()
        gristmill(folder, "plan", "run", "plan.yaml")

    def added(self) -> None:
        """One more entry of the allowlist."""
        self._sites.append(self._next)
        self._next += 1
        self._measure("entry added")

    def removed(self) -> None:
        """One entry less; its pages are withdrawn as `plan diff` says."""
        self._sites.pop(0)
        self._measure("entry removed", withdraws=True)

    def price_changed(self) -> None:
        """A request costs more."""
        self._settings["COST_REQUEST"] = int(str(self._settings["COST_REQUEST"])) + 1
        self._measure("price changed")

    def limit_changed(self) -> None:
        """A run may fetch more."""
        self._pages = self._pages * 3 // 2
        self._measure("limit changed")

    def setting_changed(self) -> None:
        """Another pace."""
        self._settings["DOWNLOAD_DELAY"] = 0.01
        self._measure("delay changed")

    def _write(self) -> None:
        entries = [f'- {{domain: "127.0.6.{n + 1}:{self._town.port}", tier: A, licence: CC0-1.0, discovery: links}}'
                   for n in self._sites]  # fmt: skip
        (self._folder / "allowlist.yaml").write_text("\n".join(entries) + "\n")
        limits = {"run": {"fetched": self._pages}}
        text = plan_text(self._town, "allowlist: allowlist.yaml", limits, **self._settings)
        (self._folder / "plan.yaml").write_text(text)

    def _measure(self, change: str, *, withdraws: bool = False) -> None:
        self._write()
        (said,) = facts(self._folder, "plan", "diff", "plan.yaml")["crawls"]
        kept, asked = kept_of(self._folder).total(), len(self._town.log)
        if withdraws:
            gristmill(self._folder, "dataset", "exclude", "corpus", "--allowlist", "allowlist.yaml", "--yes")
            gone = kept - kept_of(self._folder).total()
            self.rows.append(Row(change, "withdrawn", sum(said["left_out"].values()), gone))
            kept -= gone
        gristmill(self._folder, "plan", "run", "plan.yaml")
        log = self._town.asked_since(asked)
        price = int(str(self._settings["COST_REQUEST"]))
        fetched = sum(one.is_page for one in log)
        self.rows.append(Row(change, "fetched", said["fetch"], fetched))
        self.rows.append(Row(change, "kept", said["keep"], kept_of(self._folder).total() - kept))
        self.rows.append(Row(change, "money", said["money"], price * len(log)))


CHANGES: tuple[Callable[[Campaign], Any], ...] = (
    *[Campaign.added, Campaign.removed] * 3, Campaign.price_changed, Campaign.limit_changed, Campaign.setting_changed,
)  # fmt: skip


def measured(changes: tuple[Callable[[Campaign], Any], ...], pages: int) -> list[Row]:
    """All rows of these changes, in a folder that goes."""
    with tempfile.TemporaryDirectory() as folder, Town(PAGES, thin=5) as town:
        campaign = Campaign(Path(folder), town, pages)
        for change in changes:
            change(campaign)
        return campaign.rows


def main() -> int:
    """Print every figure; 1 where one was said too badly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=60, help="that a run fetches (60)")
    rows = measured(CHANGES, parser.parse_args().pages)
    for row in rows:
        told = f"said {row.said:7,.1f} happened {row.happened:7,.1f}"
        print(f"{row.change:14} {row.figure:10} {told} {'' if row.holds else 'TOO FAR'}")
    print(f"{machine()}, commit {commit()}")
    wrong = sum(not row.holds for row in rows)
    print(f"{len(rows)} figures of {len(CHANGES)} changes: {wrong} said too badly")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
