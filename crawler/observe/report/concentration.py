"""Concentration says how far a corpus depends on few domains: shares of the largest, Herfindahl index, Gini."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LARGEST = (1, 10, 100)


@dataclass(frozen=True, slots=True)
class Concentration:
    """Of one amount (documents, tokens) over domains. shares: of the 1, 10, 100 largest, 0 to 1.

    hhi: sum of the squared shares, from 1/n (all alike) to 1 (one has everything; Herfindahl 1950).
    gini: Σᵢ Σⱼ |xᵢ − xⱼ| / (2 n Σ x), from 0 (all alike) to 1 − 1/n (Gini 1912).
    """

    domains: int
    shares: dict[int, float]
    hhi: float
    gini: float

    def as_dict(self, of: str) -> dict[str, float]:
        """Figures by name, such as `top1_tokens`."""
        found = {f"top{count}_{of}": round(share, 6) for count, share in self.shares.items()}
        return found | {f"hhi_{of}": round(self.hhi, 6), f"gini_{of}": round(self.gini, 6)}


def concentration_of(amounts: Iterable[int], others: int = 0) -> Concentration | None:
    """None where there is nothing; domains that have none of it do not count.

    others: what smaller domains have that nobody listed. Shares take it into account, hhi is then a lower bound, and
    gini is that of the listed domains.
    """
    ranked = sorted((amount for amount in amounts if amount > 0), reverse=True)
    total = sum(ranked) + others
    if not ranked:
        return None
    shares = {count: sum(ranked[:count]) / total for count in LARGEST}
    hhi = sum((amount / total) ** 2 for amount in ranked)
    return Concentration(len(ranked), shares, hhi, _gini(ranked))


def _gini(ranked: Sequence[int]) -> float:
    """From the amounts, largest first: the same as the double sum, in one pass."""
    count, total = len(ranked), sum(ranked)
    weighted = sum((count + 1 - 2 * position) * amount for position, amount in enumerate(ranked, 1))
    return weighted / (count * total)
