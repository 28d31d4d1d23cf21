"""How much of a text does a model recite? Texts that are planted so many times, and those that repeat by themselves.

Recited is the share of a text's bits that a model saves by having learned it: 1 − bits with it ÷ bits without it. Pages
with and without copies are compared with one model that has neither. 0: as if it had never seen it; 1: by heart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crawler.trial.instrument import costs, learned

TIMES = (1, 4, 16)
"""How often texts are planted."""
MOST = 20
"""Texts of each sort that are looked at."""


@dataclass(frozen=True, slots=True)
class Recited:
    """Of one side: by how often held-out texts were planted; of its own pages without and with copies, None: has none.

    pages, repeated: how many of these were looked at.
    """

    side: str
    planted: Mapping[int, float]
    once: float | None
    several_times: float | None
    pages: int
    repeated: int

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        shares = {name: None if (one := getattr(self, name)) is None else round(one, 4) for name in _SHARES}
        planted = {str(times): round(share, 4) for times, share in self.planted.items()}
        return {"side": self.side, "planted": planted, **shares, "pages": self.pages, "repeated": self.repeated}


_SHARES = ("once", "several_times")


def recited(side: str, groups: Sequence[Sequence[str]], planted: Sequence[str]) -> Recited:
    """All texts spelled. groups: of one sample, each a page with its copies; planted: texts that no side has."""
    sample, planted = [text for group in groups for text in group], planted[:MOST]
    alone = float(costs(learned(sample), planted).sum())
    by_times = {
        times: 1 - float(costs(learned([*sample, *list(planted) * times]), planted).sum()) / alone for times in TIMES
    }
    most = min(MOST, len(groups) // 4)  # the models without them need something to learn from
    single, several = (
        [at for at, group in enumerate(groups) if (len(group) > 1) == copied][:most] for copied in (False, True)
    )
    rest = learned([text for at, group in enumerate(groups) if at not in {*single, *several} for text in group])
    whole = learned(sample)

    def saved(some: Sequence[int]) -> float | None:
        asked = [groups[at][0] for at in some]
        return 1 - float(costs(whole, asked).sum()) / float(costs(rest, asked).sum()) if asked else None

    return Recited(side, by_times, saved(single), saved(several), len(single), len(several))
