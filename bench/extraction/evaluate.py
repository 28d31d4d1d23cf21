"""Cross-validation by site: every page is measured by a model that has seen no page of its site.

Pages without any block of text are not in the figures; a text would be empty there.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

import numpy as np

from bench.extraction.data import Example
from bench.extraction.odds import Odds
from bench.extraction.train import fit_blocks, fit_kinds, matrices
from bench.quality.eval_pages import Result, score
from crawler.stages.extraction.learned.choice import choose
from crawler.stages.extraction.learned.extract import page_type
from crawler.stages.extraction.learned.forest import probability
from crawler.stages.extraction.learned.lines import write
from crawler.stages.extraction.learned.model import Model
from crawler.stages.extraction.learned.numbers import Numbers


def fold_of(site: str, folds: int) -> int:
    """The same fold for all pages of a site."""
    return hashlib.sha256(site.encode()).digest()[1] % folds


def evaluate(examples: list[Example], folds: int = 3) -> Iterator[tuple[Result, float, str]]:
    """Of every page that is for measuring: the result, the F1 that was expected, the page type that was found."""
    for fold in range(folds):
        learned = [e for e in examples if fold_of(e.site, folds) != fold and e.is_for_training]
        odds = Odds(learned)
        rows = matrices(learned, odds)
        model = Model(fit_blocks(learned, rows), fit_kinds(learned, rows), odds.table, rows[0].shape[1])
        asked = [e for e in examples if fold_of(e.site, folds) == fold and _is_measured(e)]
        for one, matrix in zip(asked, matrices(asked, odds), strict=True):
            yield _measure(one, matrix, model)


def _is_measured(example: Example) -> bool:
    return example.page.group != "agreement" or not example.is_for_training


def _measure(example: Example, rows: np.ndarray, model: Model) -> tuple[Result, float, str]:  # type: ignore[type-arg]
    page = example.page
    sums = model.blocks(rows)[:, 0]
    kept, expected = choose(probability(sums), sums, Numbers(example.walked).words)
    f1, precision, recall = score(page.expected, write(example.walked, kept.tolist())[0])
    value = recall if page.group == "packages" else f1
    result = Result(page.id, page.group, page.kind, page.url, value, precision, recall, "learned", 0.0)
    return result, expected, page_type(model, rows)[0]


def table(results: Iterator[tuple[Result, float, str]]) -> None:
    """A line a kind: pages, mean value, precision, recall, expected F1 and share of right page types."""
    kinds: dict[tuple[str, str], list[tuple[Result, float, str]]] = defaultdict(list)
    for one in results:
        kinds[one[0].group, one[0].kind].append(one)
        kinds[one[0].group, "all"].append(one)
    print(f"{'':36} pages  value  prec.  recall  expected  type")
    for (group, kind), some in sorted(kinds.items()):
        means = [fmean(getattr(r, name) for r, _, _ in some) for name in ("value", "precision", "recall")]
        expected, right = fmean(e for _, e, _ in some), fmean(r.kind == t for r, _, t in some)
        numbers = f"{means[0]:6.4f} {means[1]:6.4f} {means[2]:6.4f} {expected:9.4f} {right:5.2f}"
        print(f"{group:12}{kind:24}{len(some):6} {numbers}")
