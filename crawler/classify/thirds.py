"""Head, middle and tail: the kept documents of a corpus by perplexity, parted where the corpus itself has its thirds.

After Wenzek et al., "CCNet" (2020): head is the most likely third of a language. It orders a corpus weakly and decides
nothing; the ratio of a model of good texts and one of bad texts says more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crawler.classify.kneser_ney import Model
from crawler.dataset.pages import page_name
from crawler.number import number_of
from crawler.storage.files.records import Record

PARTS = ("head", "middle", "tail")
DIGITS = 6
"""Of log10: what lies behind depends on the order of a sum."""


@dataclass(slots=True)
class Scored:
    """Rows as `gristmill dataset annotate` reads them. left_out: documents without a row, by reason."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    limits: dict[str, list[float]] = field(default_factory=dict)


def score(records: Iterable[Record], good: Model, bad: Model | None, languages: Collection[str]) -> Scored:
    """The rows of all documents in these languages; of each language its two limits, in perplexity."""
    found = Scored()
    of: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        language = record.get("language") or "unknown"
        if language not in languages:
            found.left_out[f"in {language}"] += 1
            continue
        row = _row(record, good, bad)
        if row is None:
            found.left_out["without words"] += 1
            continue
        found.rows.append(row)
        of.setdefault(language, []).append(row)
    for language, rows in sorted(of.items()):
        limits = np.percentile([row["logp_unit"] for row in rows], [100 * 2 / 3, 100 / 3]).tolist()
        found.limits[language] = [round(float(10.0**-limit), 3) for limit in limits]
        for row in rows:
            row["third"] = PARTS[sum(row["logp_unit"] < limit for limit in limits)]
    return found


def _row(record: Record, good: Model, bad: Model | None) -> dict[str, Any] | None:
    text = str(record.get("text") or "")
    said = good.score(text)
    if not said.units:
        return None
    row = {
        "canonical_url": page_name(record),
        "doc_id": record.get("doc_id"),
        "logp_unit": round(said.logp / said.units, DIGITS),
        "perplexity": round(said.perplexity, 3),
        "unknown_share": round(said.unknown / said.units, 4),
    }
    if bad is not None:
        worse = bad.score(text)
        row["good_over_bad"] = round(said.logp / said.units - worse.logp / max(worse.units, 1), DIGITS)
    return row


def counts(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Documents by third."""
    found = Counter(row["third"] for row in rows)
    return {part: found[part] for part in PARTS}


def lines(found: Scored) -> Iterator[str]:
    """For a person."""
    for language, (low, high) in found.limits.items():
        yield f"{language}: head below {low:,.1f}, tail from {high:,.1f}"
    yield from (f"{number_of(count, 'document')} {why}: no row" for why, count in found.left_out.most_common())
