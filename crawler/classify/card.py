"""A model's file is written with everything that has to be known of it: what it learned from, and what it is worth.

The card names no phrase of a page: numbers, names of files and sites' counts only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crawler.classify.explain import dominance
from crawler.classify.invariance import changed
from crawler.classify.measures import Cut, Interval
from crawler.classify.train import Trained
from crawler.stages.classify.model import KIND
from crawler.stages.classify.words import PROBE, computed
from crawler.stages.models.file import Card, write

MOST_CHANGED = 0.01
"""Share of verdicts that a change of layout may turn around."""
MOST_ALONE = 0.8
"""AUC from which a name alone answers so well that the model may have learned the sources."""
DIGESTS_NAMED = 20
_WHAT = {
    False: "probability that a text is to be kept",
    True: "relevance, .5 for a text that is as likely one of the examples as one of the background",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What the person says of a model. data: names of what it learned from; date: ISO 8601; action: of `ACTIONS`, for
    texts below the threshold.
    """

    name: str
    data: tuple[str, ...]
    licence: str
    date: str
    threshold: float = 0.5
    action: str = "score"
    relevance: bool = False
    """The texts that are not to be kept were a background, of which nobody said that it is bad."""


def card_of(made: Trained, by: Said) -> tuple[Card, list[str]]:
    """The card, and what is weak about the model, a sentence each."""
    texts = [one.text for one in made.examples]
    layout = changed(made.weights, texts, by.threshold)
    strong, over = dominance(made.weights, texts)
    said: dict[str, Any] = {
        "name": by.name,
        "threshold": by.threshold,
        "action": by.action,
        "languages": list(made.languages),
        "texts": len(texts),
        "groups": made.groups,
        "folds": made.folds,
        "strength": made.strength,
        "judges": max(one.judges for one in made.examples),
        "disagreed": sum(0 < one.good < 1 for one in made.examples),
        "by_language": dict(Counter(str(one.language) for one in made.examples).most_common()),
        "by_stratum": dict(Counter(one.stratum or "unknown" for one in made.examples).most_common()),
        "weighted": any(one.weight != 1.0 for one in made.examples),
        "relevance": by.relevance,
        "config_digests": sorted({one.digest for one in made.examples if one.digest})[:DIGESTS_NAMED],
        "auc_of_name_alone": made.alone,
        "changed_by_layout": layout,
        "share_of_strongest_feature": strong,
        "texts_ruled_by_one_feature": over,
        "cuts": [asdict(cut) for cut in made.cuts],
    }
    card: Card = {
        "kind": KIND,
        "what": "linear classifier of hashed words and pairs of words: " + _WHAT[by.relevance],
        "data": "; ".join(by.data),
        "licence": by.licence,
        "date": by.date,
        "figures": figures_of(made.auc, made.ece),
        "classifier": said,
    }
    return card, [*_weak(made.alone, layout, over), *_narrow(made.auc, made.groups)]


def save(path: Path, card: Card, made: Trained) -> None:
    """Write the model's file; the same training gives the same bytes. Raises: OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, card, {"weights": made.weights}, PROBE.encode(), computed)


def figures_of(auc: Interval, ece: float) -> dict[str, float]:
    """The figures that are defined."""
    every = {"auc": auc.value, "auc_low": auc.low, "auc_high": auc.high, "ece": ece}
    return {name: value for name, value in every.items() if value is not None}


def lines_of(auc: Interval, ece: float, cut: Sequence[Cut], alone: Mapping[str, float | None]) -> list[str]:
    """The figures for a person."""
    value = "not defined: all texts have one answer" if auc.value is None else f"{auc.value:.3f}"
    ends = f" [{auc.low:.3f}, {auc.high:.3f}]" if auc.low is not None else ""
    names = ", ".join(f"{what.replace('_', ' ')} {found:.3f}" for what, found in alone.items() if found is not None)
    rows = [
        f"  {one.threshold:>9.1f} {one.kept:>7.1%} {_share(one.precision):>10} {_share(one.recall):>7}" for one in cut
    ]
    return [
        f"AUC {value}{ends}, calibration error {ece:.3f}",
        f"AUC that a name alone would give: {names}",
        "  threshold    kept  precision  recall",
        *rows,
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _weak(alone: Mapping[str, float | None], layout: Mapping[str, float], over: float) -> list[str]:
    known = [
        f"the {what.replace('_', ' ')} alone gives AUC {value:.3f}: the model may have learned where texts come from"
        for what, value in alone.items()
        if value is not None and value >= MOST_ALONE
    ]
    known += [
        f"{share:.1%} of verdicts change with {what} alone (at most {MOST_CHANGED:.0%} should)"
        for what, share in layout.items()
        if share > MOST_CHANGED
    ]
    if over > 0:
        known.append(
            f"in {over:.1%} of the texts one feature carries more than 30 % of the sum: look at them (explain)"
        )
    return known


def _narrow(auc: Interval, groups: int) -> list[str]:
    wide = auc.low is not None and auc.high is not None and auc.high - auc.low > 0.1
    return [f"the interval of the AUC is wide ({groups:,} sites): judge pages of more sites"] if wide else []
