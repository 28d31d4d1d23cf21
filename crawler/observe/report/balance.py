"""The balance says whether a corpus depends on few domains, and whether its languages are the ones it should have."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from crawler.config.report import ReportConfig
from crawler.number import number_of
from crawler.observe.report import accounts
from crawler.observe.report.accounts import Books
from crawler.observe.report.concentration import Concentration, concentration_of
from crawler.observe.report.summary import Summary
from crawler.storage.files.accounts import OTHER
from crawler.storage.files.place import Place

_DOMAINS = 5
"""Domains that a warning names."""


@dataclass(frozen=True, slots=True)
class Balance:
    """Concentration of documents and of tokens over domains; None where nothing was kept.

    target_distance: half the sum of the differences between the shares of the tokens that languages have and should
    have: the share of the tokens that would have to be others. None without TARGET_LANGUAGES.
    """

    documents: Concentration | None = None
    tokens: Concentration | None = None
    target_distance: float | None = None
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Figures by name, as gates and `stats.json` have them."""
        found: dict[str, Any] = {}
        for of, concentration in (("documents", self.documents), ("tokens", self.tokens)):
            found |= concentration.as_dict(of) if concentration else {}
        distance = self.target_distance
        return found | {"target_distance": None if distance is None else round(distance, 6)}


def read(summary: Summary, config: ReportConfig) -> Balance:
    """The balance of a corpus, from its manifest alone."""
    return balance_of(summary, accounts.read(Place(summary.where), targets=accounts.targets_of(config)), config)


def balance_of(summary: Summary, books: Books, config: ReportConfig) -> Balance:
    """The balance of a corpus, and its warnings as sentences."""
    tokens = {account.name: account.counts.get("tokens", 0) for account in books.groups["domain"]}
    others = tokens.pop(OTHER, 0)
    found = concentration_of(tokens.values(), others)
    distance = _distance(books, targets) if (targets := accounts.targets_of(config)) else None
    warnings = [*_warnings(tokens, found, config.concentration_warn), *_conflicts(books)]
    return Balance(concentration_of(summary.domains.values()), found, distance, warnings)


def _conflicts(books: Books) -> list[str]:
    """Where the allowlist and the pages name different licences; the allowlist's is the one that the records have."""
    found = {account.name: account.counts.get("licence_conflicts", 0) for account in books.groups["domain"]}
    worst = heapq.nlargest(_DOMAINS, (name for name, n in found.items() if n), key=lambda name: found[name])
    if not worst:
        return []
    documents, domains = number_of(sum(found.values()), "document"), sum(map(bool, found.values()))
    more = f" and {domains - len(worst)} more" if domains > len(worst) else ""
    states = "states" if sum(found.values()) == 1 else "state"
    return [f"{documents} {states} another licence than the allowlist gives them: {', '.join(worst)}{more}"]


def _warnings(tokens: Mapping[str, int], found: Concentration | None, limit: float) -> list[str]:
    if found is None or found.domains == 1 or found.shares[1] <= limit:
        return []
    largest = min(tokens, key=lambda name: (-tokens[name], name))
    share = f"{100 * found.shares[1]:.1f} % of the tokens are of one domain, {largest}"
    return [f"{share}: above CONCENTRATION_WARN ({100 * limit:g} %)"]


def _distance(books: Books, targets: Mapping[str, float]) -> float | None:
    total = books.whole.counts.get("tokens", 0)
    if not total:
        return None
    achieved = {account.name: account.counts.get("tokens", 0) / total for account in books.groups["language"]}
    return sum(abs(achieved.get(name, 0.0) - targets.get(name, 0.0)) for name in {*achieved, *targets}) / 2


def sections(found: Balance) -> Iterator[tuple[str, RenderableType]]:
    """Title and content of what the terminal says: the shares of the largest domains, and warnings."""
    if found.warnings:
        yield "Warning", Text("\n".join(found.warnings), "yellow")
    if found.tokens is not None and found.tokens.domains > 1:
        shares = ", ".join(
            f"{'the largest has' if count == 1 else f'the {count} largest have'} {100 * share:.1f} %"
            for count, share in found.tokens.shares.items()
            if count < found.tokens.domains
        )
        yield "Share of the tokens, by domains", Text(shares)
