"""Cross-validation by site: every page is measured by a model that has seen no page of its site, beside the chain.

Pages without any block of text are not in the figures; a text would be empty there.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from statistics import fmean

import numpy as np

from bench.extraction.data import Example
from bench.extraction.odds import Odds
from bench.extraction.train import Matrix, fit, matrices, seen
from bench.quality.eval_pages import Extraction, Page, score
from crawler.stages.extraction.learned.extract import Found, judge, page_types
from crawler.stages.extraction.learned.model import Model
from crawler.stages.extraction.learned.numbers import Numbers
from crawler.stages.extraction.signposts import without_signposts

DRAWS = 2_000
"""Of the bootstrap: pages are drawn with replacement, the interval holds 95 % of the mean differences."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A page, what the model made of it, and what the chain did. Shares 0 to 1."""

    page: Page
    found: Found
    value: float
    """F1 of the words; of packages the recall."""
    precision: float
    recall: float
    chain: float
    """The value of the chain's text."""


def fold_of(site: str, folds: int) -> int:
    """The same fold for all pages of a site."""
    return hashlib.sha256(site.encode()).digest()[1] % folds


def evaluate(examples: list[Example], folds: int = 3, workers: int = 2) -> Iterator[Measured]:
    """Every page that is for measuring, fold by fold."""
    measured = [e for e in examples if e.page.group != "agreement" or not e.is_for_training]
    with ProcessPoolExecutor(workers) as pool:
        texts = pool.map(chain_text, (e.page for e in measured), chunksize=8)
        chain = {e.page.id: text for e, text in zip(measured, texts, strict=True)}
    for fold in range(folds):
        learned = [e for e in examples if fold_of(e.site, folds) != fold and e.is_for_training]
        odds = Odds(learned)
        rows = matrices(learned, odds)
        model = fit(learned, rows, odds)
        for one in measured:
            if fold_of(one.site, folds) == fold:
                yield measure(one, *seen(one, odds), model, chain[one.page.id])


def chain_text(page: Page) -> str:
    """The text of EXTRACTOR=trafilatura, which is the second opinion, too."""
    return _chain().text_of(page).text


@cache
def _chain() -> Extraction:
    return Extraction("trafilatura")


def measure(example: Example, rows: Matrix, numbers: Numbers, model: Model, chain: str) -> Measured:
    """What a model makes of a page, as the extractor does it."""
    page = example.page
    chances = page_types(model, rows, example.said)
    found = judge(model, example.walked, rows, numbers, chances, opinion=lambda: chain)
    values = score(page.expected, without_signposts(found.text)[0])
    which = 2 if page.group == "packages" else 0
    return Measured(page, found, values[which], *values[1:], score(page.expected, chain)[which])


def interval(differences: Iterable[float]) -> tuple[float, float]:
    """Where 95 % of the mean differences lie when pages are drawn again (bootstrap, the same draws each time)."""
    some = np.array(list(differences))
    chance = np.random.default_rng(1)
    means = [some[chance.integers(0, len(some), len(some))].mean() for _ in range(DRAWS)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def table(results: Iterable[Measured]) -> None:
    """A line a kind: means, the chain's mean, the interval of the difference, the share of right page types."""
    kinds: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for one in results:
        kinds[one.page.group, one.page.kind].append(one)
        kinds[one.page.group, "all"].append(one)
    print(f"{'':36} pages  value  prec. recall expect.  chain  difference, 95 %   type  second")
    for (group, kind), some in sorted(kinds.items()):
        means = [fmean(getattr(one, name) for one in some) for name in ("value", "precision", "recall")]
        means += [fmean(one.found.confidence for one in some), fmean(one.chain for one in some)]
        low, high = interval(one.value - one.chain for one in some)
        right = fmean(one.page.kind == one.found.page_type for one in some)
        second = fmean(one.found.is_second for one in some)
        numbers = " ".join(f"{mean:6.4f}" for mean in means)
        print(f"{group:12}{kind:24}{len(some):6} {numbers} {low:+8.4f} {high:+8.4f} {right:7.2f} {second:6.2f}")
