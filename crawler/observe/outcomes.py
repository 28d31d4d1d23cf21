"""What became of pages, told apart: rejected, on hold, for review and unchanged are four things in every figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crawler.document import DropReason, Reason
from crawler.storage.files.records import is_held


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Pages that were not kept. rejected: by "stage/reason"; on_hold: they wait for a later run; for_review: for a
    person; unchanged: they are as they were at an earlier visit, whose verdict stands.
    """

    rejected: dict[str, int] = field(default_factory=dict)
    on_hold: int = 0
    for_review: int = 0
    unchanged: int = 0

    @property
    def rejections(self) -> int:
        """Pages with a verdict against them."""
        return sum(self.rejected.values())

    @property
    def judged(self) -> int:
        """Pages that need no further try."""
        return self.rejections + self.for_review + self.unchanged


def outcomes(counts: Mapping[str, int]) -> Outcomes:
    """Tell the verdicts of these counts apart. counts: pages by "stage/reason", as the counters of a run have them."""
    rejected: dict[str, int] = {}
    on_hold = for_review = unchanged = 0
    for name, count in counts.items():
        reason = name.rpartition("/")[2]
        if is_held_name(name):
            for_review += count
        elif reason == DropReason.UNCHANGED:
            unchanged += count
        elif Reason.holds(reason):
            on_hold += count
        else:
            rejected[name] = count
    return Outcomes(rejected, on_hold, for_review, unchanged)


def is_held_name(name: str) -> bool:
    """True for the "stage/reason" of pages that wait for a person."""
    return is_held({"reason": name.rpartition("/")[2]})
