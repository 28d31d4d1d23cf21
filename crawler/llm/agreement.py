"""Do a model's scores agree with what people said of the same texts?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crawler.stages.fingerprint import exact_id
from crawler.storage.corpus.labels import LABELS
from crawler.storage.files.place import Place

KEEP_FROM = 3
"""The score from which on a text counts as one to keep, where a person's answer is keep or reject."""


def labels_of(place: Place) -> dict[tuple[str, str], tuple[float, str]]:
    """What people said: share of judges that keep the text, and its site, by URL and hash of the text.

    Empty where there is no label. Raises: InputError, StorageError.
    """
    if LABELS not in place.listing(""):
        return {}
    from crawler.classify.examples import Examples, read_labels

    found = Examples()
    read_labels([place.url], found)
    return {(one.url, exact_id(one.text)): (one.good, one.site) for one in found.found}


def agreement(
    labels: Mapping[tuple[str, str], tuple[float, str]], rows: Iterable[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """AUC of the score with its interval (sites drawn), share of equal verdicts and Cohen's kappa; None without labels.

    rows: of the annotation.
    """
    import numpy as np

    from crawler.classify.measures import auc_interval

    pairs = [
        (*labels[key], int(row["score"])) for row in rows if (key := (row["canonical_url"], row["doc_id"])) in labels
    ]
    if not pairs:
        return None
    goal = np.array([good for good, _, _ in pairs], dtype=np.float64)
    score = np.array([value for _, _, value in pairs], dtype=np.float64)
    area = auc_interval(goal, score, np.ones(len(pairs)), [site for _, site, _ in pairs])
    mine, theirs = score >= KEEP_FROM, goal >= 0.5
    equal = float((mine == theirs).mean())
    chance = float(mine.mean() * theirs.mean() + (1 - mine.mean()) * (1 - theirs.mean()))
    return {
        "labels": len(pairs),
        "auc": area.value,
        "auc_low": area.low,
        "auc_high": area.high,
        "equal": equal,
        "kappa": None if chance == 1 else (equal - chance) / (1 - chance),
    }
