"""What a page, and a site that is new, has brought and cost so far: by the counters of all runs of a corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from crawler.document import Reason
from crawler.observe.report.costs import spent_by
from crawler.statkeys import KEPT, judged, rejected_by

if TYPE_CHECKING:
    from crawler.observe.report.costs import Prices
    from crawler.storage.types import Run

_MOST_CONTROL_FILES = 8
"""Of one host: robots.txt, tdmrep.json and the like. What was asked beyond that (tries, parts of pages) is of pages."""
_KNOWN_SECONDS = 86_400.0
"""How long a robots.txt is believed (RFC 9309, section 2.4)."""


@dataclass(frozen=True, slots=True)
class Brought:
    """kept, bytes, money: of one page, whatever became of it. site_money: of the control files of a site. until: when
    sites are asked for these again (epoch seconds)."""

    kept: float = 0.0
    bytes: float = 0.0
    money: float = 0.0
    site_money: float = 0.0
    until: float = -math.inf


def brought_by(runs: Sequence[Run], sites: int, prices: Prices) -> Brought:
    """By these runs, which have asked so many sites. Withdrawals change nothing in it."""
    counters = [run["counters"] for run in runs]
    spent, pages = spent_by(counters, prices), sum(map(judged, counters))
    if not pages:
        return Brought()
    kept = sum(one.get(KEPT, 0) for one in counters)
    control = min(max(0.0, (spent.requests or 0) - asked_by(counters)) / max(1, sites), _MOST_CONTROL_FILES)
    site_money = control * prices.request
    ends = [datetime.fromisoformat(run["ended"] or run["started"]).timestamp() for run in runs]
    return Brought(
        kept / pages,
        (spent.received or 0) / pages,
        max(0.0, (spent.cost or 0.0) - sites * site_money) / pages,
        site_money,
        max(ends, default=-math.inf) + _KNOWN_SECONDS,
    )


def asked_by(counters: Sequence[Mapping[str, int]]) -> int:
    """Pages that the runs with these counters have asked for, and judged."""
    rejected = [(name.rpartition("/")[2], count) for one in counters for name, count in rejected_by(one).items()]
    kept = sum(one.get(KEPT, 0) for one in counters)
    return kept + sum(count for reason, count in rejected if Reason.of(reason).asked)
