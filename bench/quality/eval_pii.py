"""Precision and recall of the personal-data stage on the project's own labelled set.

`python -m bench.quality.eval_pii`

Prints a table by type and one by language for both halves of the set (`bench/quality/pii_set.py`), with the structured
types alone and with names, and every mistake. A hit counts where type and both ends agree; one that only overlaps a
label is a miss and a false alarm. Exits 1 where a figure of the held half is below its floor in
`bench/data/pii/floors.json`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bench.quality.pii_set import FOLDER, Passage, Span, passages
from crawler.config import from_mapping
from crawler.stages.pii.stage import PiiStage, check_models, model_table

NAMES = frozenset({"PERSON", "NRP"})


@dataclass(slots=True)
class Score:
    """Counts of "hit", "missed" and "false" by type and by language, and a line for each mistake."""

    types: dict[str, Counter[str]] = field(default_factory=dict)
    languages: dict[str, Counter[str]] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)

    @property
    def total(self) -> Counter[str]:
        return sum(self.types.values(), Counter())

    def add(self, outcome: str, passage: Passage, start: int, end: int, entity: str) -> None:
        self.types.setdefault(entity, Counter())[outcome] += 1
        self.languages.setdefault(passage.language, Counter())[outcome] += 1
        if outcome != "hit":
            place = (
                f"{passage.text[max(0, start - 30) : start]}[{passage.text[start:end]}]{passage.text[end : end + 20]}"
            )
            self.mistakes.append(f"{outcome:6} {entity:18} {passage.id}  {place!r}")


ALL_MODELS = "en:en_core_web_sm,fr:fr_core_news_sm"


def score(
    cases: Iterable[Passage], person: str = "off", only: frozenset[str] | None = None, models: str | None = None
) -> Score:
    """Run the stage over passages. only: the types that count (None: all but names); models: PII_MODELS."""
    stage = PiiStage(from_mapping({"PII_PERSON": person} | ({"PII_MODELS": models} if models else {})).pii)
    result = Score()
    for passage in cases:
        found = {(hit.start, hit.end, hit.entity) for hit in stage.hits(passage.text, passage.language)}
        for outcome, spans in _outcomes(found, set(passage.spans)):
            for start, end, entity in sorted(spans):
                if (entity in only) if only else (entity not in NAMES):
                    result.add(outcome, passage, start, end, entity)
    return result


def _outcomes(found: set[Span], wanted: set[Span]) -> Iterator[tuple[str, set[Span]]]:
    yield from (("hit", found & wanted), ("missed", wanted - found), ("false", found - wanted))


def precision_recall(counts: Counter[str]) -> tuple[float, float]:
    """1.0 where nothing was there to be wrong about."""
    found, wanted = counts["hit"] + counts["false"], counts["hit"] + counts["missed"]
    return (counts["hit"] / found if found else 1.0), (counts["hit"] / wanted if wanted else 1.0)


def table(title: str, rows: dict[str, Counter[str]], total: Counter[str]) -> None:
    print(f"\n{title}")
    for name, row in [*sorted(rows.items()), ("all", total)]:
        precision, recall = precision_recall(row)
        print(f"  {name:28} precision {precision:.3f}  recall {recall:.3f}  of {row['hit'] + row['missed']}")


def report(title: str, result: Score) -> None:
    table(f"{title}, by type", result.types, result.total)
    table(f"{title}, by language", result.languages, result.total)
    print(*result.mistakes, sep="\n")


def shortfalls(name: str, result: Score) -> list[str]:
    """Where a result is below its pinned floors."""
    floors = json.loads((FOLDER / "floors.json").read_text("utf-8"))[name]
    figures = dict(zip(("precision", "recall"), precision_recall(result.total), strict=True))
    return [f"{name}: {kind} {figures[kind]:.3f} < {floor}" for kind, floor in floors.items() if figures[kind] < floor]


def names(person: str) -> tuple[Score, Score]:
    """Names in languages with a model, and in those without (`PII_MODELS`)."""
    covered = set(model_table(from_mapping({}).pii))
    cases = list(passages("persons"))
    scores = [
        score([case for case in cases if (case.language in covered) is with_model], person, NAMES)
        for with_model in (True, False)
    ]
    return scores[0], scores[1]


def private(half: str) -> Score:
    """Names in sentences about somebody's private life, English and French, of one half of the set."""
    return score(passages("context", half), "contextual", NAMES, ALL_MODELS)


def main() -> int:
    """Both halves, older cases, names without and with the model; the exit code says whether the floors hold."""
    below = []
    for name in ("structured", "contact"):
        for half in ("dev", "held"):
            result = score(passages(name, half))
            report(f"{name}, {half} half", result)
        below += shortfalls(name, result)
    result = score(passages("known"))
    report("known", result)
    below += shortfalls("known", result)
    if not check_models(from_mapping({"PII_MODELS": ALL_MODELS}).pii):
        for half in ("dev", "held"):
            result = private(half)
            report(f"names in private sentences, {half} half", result)
        below += shortfalls("context", result)
    problems = check_models(from_mapping({}).pii)
    for person in ("off",) if problems else ("off", "contextual", "all"):
        modelled, others = names(person)
        report(f"names, PII_PERSON={person}, languages with a model", modelled)
        print(f"  languages without a model: {others.total['missed']} names stay, {others.total['false']} false")
        below += shortfalls("persons", modelled) if person == "contextual" else []
    print(*problems, *below, sep="\n")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
