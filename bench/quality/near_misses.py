"""Fits the model that judges pages near a limit of the quality rules, and says what it is worth on unseen sites.

    python -m bench.quality.near_misses [--write] [--most 1000] [--pages]

Texts are those of `good_and_junk`, listings and collections left out of the good ones: no rule is loosened for their
sake. Five folds by registrable domain: the model of four judges the fifth, through the stage itself. Printed: what each
kind loses today (limits alone) and with the model, the area under the curve, and the calibration error near the limits.
`--write` fits it to all folds and writes `crawler/stages/quality/near_misses.json`: numbers alone, no word of a text.

`--pages`: the labelled pages themselves, as they are crawled, up to this verdict: by type how many opted out, how many
left no text to judge, and how many are lost to the language and the rules. The extractor is EXTRACTOR; the learned one
knows these pages, trafilatura does not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bench.places import PROJECT
from bench.quality.good_and_junk import MOST, Sample, good, junk, labelled, site_of
from crawler.config import LanguageConfig, QualityConfig, from_mapping
from crawler.document import Document, Drop
from crawler.observe.report.audit import wilson
from crawler.stages.chain import STAGES, Chain
from crawler.stages.language.stage import LanguageStage
from crawler.stages.quality.near_misses import PROBABILITY, Curve, NearMisses, TextModel
from crawler.stages.quality.stage import QualityStage

Floats = NDArray[np.float64]
MODEL = PROJECT / "crawler" / "stages" / "quality" / "near_misses.json"
FOLDS = 5
SIGNALS = (
    "log10_words", "punctuation", "digits", "urls_per_100_words", "sentence_lines", "dup_para_frac",
    "dup_para_char_frac", "dup_line_frac", "dup_line_char_frac", "top_2_gram", "top_3_gram", "top_4_gram",
    "dup_5_gram", "dup_7_gram", "dup_10_gram", "gopher_hashes", "gopher_ellipses", "gopher_bullet_lines",
    "gopher_ellipsis_lines", "gopher_alphabetic_tokens", "fineweb_duplicate_line_chars", "fineweb_short_lines",
    "fineweb_punctuated_lines",
)  # fmt: skip
"""What neither the words of one language decide, nor their length, nor how often they are inflected; and not how many
lines there are, by which the two sides of our texts differ more than text and junk do."""
QUANTILES = (0.02, 0.15, 0.35, 0.5, 0.65, 0.85, 0.98)
RIDGE = 0.3
"""1 / (2 sigma²) of a curve's steps."""
WEIGHTS = {
    "consent": 0.5,
    "repeated": 0.1,
    "word lists": 0.3,
    "keyword spam": 0.3,
    "templates": 0.3,
    "chains of words": 0.3,
}
"""Of a text, where it is not 1: what is made here is less like the web."""
MANY = 30
"""Good texts of a language, from which the model may drop a page in it."""
NO_GOOD = ("web: listing", "web: collection")


@dataclass(frozen=True, slots=True)
class Measured:
    """A text with its signals, and whether it is a good one."""

    sample: Sample
    is_good: bool
    signals: dict[str, object]
    reason: str
    language: str


def main() -> int:
    """Print the table; write the model where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--most", type=int, default=MOST, help="junk texts of a kind")
    parser.add_argument("--pages", action="store_true", help="judge the labelled pages, not their labelled texts")
    options = parser.parse_args()
    texts = list(chain(((one, True) for one in good()), ((one, False) for one in junk(options.most))))
    bare = _stages(None)
    rows = [_measured(bare, *one) for one in texts]
    if options.pages:
        sys.stdout.write("\n".join(_of_pages(rows)) + "\n")
        return 0
    if options.write:
        _write(fit(rows), len(rows))
        return 0
    sys.stdout.write("\n".join(_table(rows, _judged(rows))) + "\n")
    return 0


def _write(model: TextModel, texts: int) -> None:
    head = {"from": "python -m bench.quality.near_misses --write", "texts": texts}
    head |= {"languages": sorted(model.languages), "base": model.base}
    curves = ",\n".join(f" {json.dumps(name)}: {json.dumps([c.knots, c.values])}" for name, c in model.curves.items())
    MODEL.write_text(f'{json.dumps(head)[:-1]}, "curves": {{\n{curves}\n}}}}\n', "utf-8")


def _stages(model: TextModel | None) -> tuple[LanguageStage, QualityStage]:
    return LanguageStage(LanguageConfig()), QualityStage(QualityConfig(), near=NearMisses(model))


def _measured(stages: tuple[LanguageStage, QualityStage], sample: Sample, is_good: bool) -> Measured:
    doc = Document("https://example.org/", text=sample.text)
    drops = [found for stage in stages if isinstance(found := stage(doc), Drop)]
    reason = str(drops[0].reason) if drops else ""
    return Measured(sample, is_good, dict(doc.quality_signals), reason, doc.language or "und")


def fold_of(site: str) -> int:
    """The fold of all texts of a site."""
    return zlib.crc32(site.encode()) % FOLDS


def _models(rows: Sequence[Measured]) -> list[TextModel]:
    """For each fold the model of the others."""
    return [fit([row for row in rows if fold_of(row.sample.site) != fold]) for fold in range(FOLDS)]


def _judged(rows: Sequence[Measured]) -> list[Measured]:
    stages = [_stages(model) for model in _models(rows)]
    return [_measured(stages[fold_of(row.sample.site)], row.sample, row.is_good) for row in rows]


def _of_pages(rows: Sequence[Measured]) -> Iterable[str]:
    """The table of `--pages`."""
    before = Chain(from_mapping({"WORKER_ID": "bench", **os.environ}), STAGES[: STAGES.index("language")])
    stages = [_stages(model) for model in _models(rows)]
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for page in labelled():
        kind, body = str(page["page_type"]), str(page["html"]).encode()
        url = str(page["url"] or "https://example.org/")
        doc = before.run(Document(url, html=body, content_type="text/html; charset=utf-8"))
        end = doc.verdict
        if end is None:
            end = next((d for one in stages[fold_of(site_of(page))] if isinstance(d := one(doc), Drop)), None)
        of = {"optout": "opted out", "language": "lost", "quality": "lost"}
        found[kind][of.get(end.stage, "no text") if end else "kept"] += 1
    found["without listings and collections"] = sum(
        (some for kind, some in found.items() if f"web: {kind}" not in NO_GOOD), Counter[str]()
    )
    yield "| pages | number | opted out | no text | lost | of those judged |\n|---|---|---|---|---|---|"
    for kind, some in found.items():
        judged = some["lost"] + some["kept"]
        low, high = wilson(some["lost"] / judged, judged)
        share = f"{some['lost'] / judged:.4f} [{low:.4f}, {high:.4f}]"
        yield f"| {kind} | {some.total()} | {some['opted out']} | {some['no text']} | {some['lost']} | {share} |"


def fit(rows: Iterable[Measured]) -> TextModel:
    """A logistic regression on the steps of piecewise linear curves; the same for the same rows."""
    rows = [row for row in rows if row.sample.kind not in NO_GOOD and "log10_words" in row.signals]
    values = np.array([[row.signals.get(name, np.nan) for name in SIGNALS] for row in rows], float)
    good_ones = np.array([row.is_good for row in rows])
    weights = np.array([WEIGHTS.get(row.sample.kind, 1.0) for row in rows])
    knots = [_knots(column[~np.isnan(column)]) for column in values.T]
    steps = [_steps(column, at) for column, at in zip(values.T, knots, strict=True)]
    means = [np.nanmean(step, axis=0) for step in steps]
    design = np.hstack([np.nan_to_num(step - mean) for step, mean in zip(steps, means, strict=True)])
    solved = _solve(design, np.where(good_ones, 1.0, -1.0), weights)
    curves, place = {}, 0
    for name, at, mean in zip(SIGNALS, knots, means, strict=True):
        weight = solved[place : place + len(mean)]
        place += len(mean)
        first = -float(weight @ mean)
        heights = [first, *(first + float(up) for up in np.cumsum(weight))]
        curves[name] = Curve(tuple(float(one) for one in at), tuple(round(one, 4) for one in heights))
    texts = Counter(row.language for row in rows if row.is_good)
    enough = frozenset(language for language, number in texts.items() if number >= MANY)
    return TextModel(round(float(solved[-1]), 4), curves, enough)


def _knots(values: Floats) -> Floats:
    found = np.unique(np.round(np.quantile(values, QUANTILES), 4))
    return found if len(found) > 1 else np.array([found[0], max(found[0] + 0.001, round(float(values.max()), 4))])


def _steps(values: Floats, knots: Floats) -> Floats:
    """How much of each step between two knots a value has gone, 0 to 1; NaN where nothing was measured."""
    return np.clip((values[:, None] - knots[:-1]) / np.diff(knots), 0, 1)


def _solve(design: Floats, sides: Floats, weights: Floats) -> Floats:
    def loss(at: Floats) -> tuple[float, Floats]:
        margin = sides * (design @ at[:-1] + at[-1])
        slope = -weights * sides / (1 + np.exp(np.clip(margin, -500, 500)))
        value = float((weights * np.logaddexp(0, -margin)).sum() + RIDGE * at[:-1] @ at[:-1])
        return value, np.append(design.T @ slope + 2 * RIDGE * at[:-1], slope.sum())

    found: Floats = minimize(loss, np.zeros(design.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return found


def _table(before: Sequence[Measured], after: Sequence[Measured]) -> Iterable[str]:
    numbers, lost, still = Counter[str](), Counter[str](), Counter[str]()
    for one, other in zip(before, after, strict=True):
        numbers[one.sample.kind] += 1
        lost[one.sample.kind] += bool(one.reason)
        still[one.sample.kind] += bool(other.reason)
    yield "| kind | texts | dropped by the limits | with the model |\n|---|---|---|---|"
    for kind, number in numbers.items():
        yield f"| {kind} | {number} | {lost[kind] / number:.4f} | {still[kind] / number:.4f} |"
    web = [k for k in numbers if k.startswith("web: ") and k not in NO_GOOD]
    total = sum(numbers[k] for k in web)
    yield (
        f"| web without listings and collections | {total} | "
        + " | ".join(f"{sum(counts[k] for k in web) / total:.4f}" for counts in (lost, still))
        + " |"
    )
    asked = [row for row in after if PROBABILITY in row.signals and row.sample.kind not in NO_GOOD]
    p = np.array([row.signals[PROBABILITY] for row in asked], float)
    y = np.array([row.is_good for row in asked])
    yield f"\nNear a limit: {len(asked)} texts, AUC {_auc(p, y):.4f}, calibration error {_error(p, y):.4f}"


def _auc(p: Floats, y: NDArray[np.bool_]) -> float:
    ranks = np.argsort(np.argsort(p, kind="stable"), kind="stable") + 1
    above = ranks[y].sum() - y.sum() * (y.sum() + 1) / 2
    return float(above / max(int(y.sum()) * int((~y).sum()), 1))


def _error(p: Floats, y: NDArray[np.bool_]) -> float:
    """Expected calibration error in ten equal bins."""
    bins = np.minimum((p * 10).astype(int), 9)
    return float(sum(abs(p[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist())))


if __name__ == "__main__":
    sys.exit(main())
