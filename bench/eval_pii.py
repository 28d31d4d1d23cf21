"""Precision and recall of the personal-data stage on a labelled set: `python -m bench.eval_pii [CASES] [PII_PERSON]`.

A case is a line `language<TAB>text`; `«TYPE|value»` marks what must go. A hit counts where type and both ends agree;
a hit that only overlaps a label is a miss and a false alarm.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from crawler.config import from_mapping
from crawler.stages.pii import PiiStage

DEFAULT = Path(__file__).resolve().parent.parent / "tests/private/pii_cases.txt"
_LABEL = re.compile(r"«(\w+)\|([^»]*)»")

Spans = set[tuple[int, int, str]]


def cases(path: Path) -> Iterator[tuple[str, str, Spans]]:
    """Yield (language, plain text, labelled spans)."""
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            language, _, marked = line.partition("\t")
            yield language, *unmark(marked)


def unmark(marked: str) -> tuple[str, Spans]:
    """Take the labels out of a text."""
    text, spans, position = "", set(), 0
    for match in _LABEL.finditer(marked):
        text += marked[position : match.start()]
        spans.add((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        position = match.end()
    return text + marked[position:], spans


def score(path: Path = DEFAULT, person: str = "contextual") -> tuple[dict[str, Counter[str]], list[str]]:
    """Counts of "hit", "missed" and "false" by type, and one line for each mistake."""
    stage = PiiStage(from_mapping({"PII_PERSON": person}).pii)
    counts: dict[str, Counter[str]] = {}
    mistakes = []
    for language, text, expected in cases(path):
        found = {(hit.start, hit.end, hit.entity) for hit in stage.hits(text, language)}
        for outcome, spans in (("hit", found & expected), ("missed", expected - found), ("false", found - expected)):
            for start, end, entity in spans:
                counts.setdefault(entity, Counter())[outcome] += 1
                if outcome != "hit":
                    mistakes.append(f"{outcome:6} {entity:16} {text[start:end]!r} in {language}: {text[:90]}")
    return counts, mistakes


def precision_recall(counts: Counter[str]) -> tuple[float, float]:
    """1.0 where nothing was there to be wrong about."""
    found, wanted = counts["hit"] + counts["false"], counts["hit"] + counts["missed"]
    return (counts["hit"] / found if found else 1.0), (counts["hit"] / wanted if wanted else 1.0)


def main() -> None:
    """Print the table, then every mistake."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    counts, mistakes = score(path, *sys.argv[2:3])
    total: Counter[str] = Counter()
    for entity in sorted(counts):
        total += counts[entity]
    for entity, row in [*sorted(counts.items()), ("all", total)]:
        precision, recall = precision_recall(row)
        print(f"{entity:28} precision {precision:.2f}  recall {recall:.2f}  of {row['hit'] + row['missed']}")
    print(*mistakes, sep="\n")


if __name__ == "__main__":
    main()
