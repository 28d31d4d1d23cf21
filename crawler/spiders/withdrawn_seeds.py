"""Seeds that were withdrawn from the corpus, or whose domain was, are said by name: nothing is asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crawler.dataset.refused import Refusals
from crawler.dataset.withdrawals import WITHDRAWALS
from crawler.frontier.model import PutStatus
from crawler.number import number_of
from crawler.urls.link import Link

MOST = 20
"""Seeds that are named; the others are counted."""


@dataclass(slots=True)
class WithdrawnSeeds:
    """Collects them batch by batch, so that a million seeds take no memory."""

    refused: Refusals
    count: int = 0
    named: list[str] = field(default_factory=list)

    def look(self, seeds: Sequence[Link], answers: Sequence[PutStatus]) -> None:
        """answers: of the frontier, which refuses a domain by itself once it was told."""
        for seed, answer in zip(seeds, answers, strict=True):
            refusal = self.refused.refusal(seed.url) if self.refused else None
            if refusal is not None:
                self._add(f"{seed.url} (its {refusal.what}: entry {refusal.number})")
            elif answer is PutStatus.BLOCKED:
                self._add(f"{seed.url} (its domain: refused by the frontier, purged)")

    def _add(self, line: str) -> None:
        self.count += 1
        if len(self.named) < MOST:
            self.named.append(line)

    def __str__(self) -> str:
        more = f", and {self.count - len(self.named):,} more" if self.count > len(self.named) else ""
        was, are = ("was", "is") if self.count == 1 else ("were", "are")
        return (
            f"{number_of(self.count, 'seed')} {was} withdrawn from this corpus ({WITHDRAWALS}), {are} not requested: "
            f"{', '.join(self.named)}{more}"
        )
