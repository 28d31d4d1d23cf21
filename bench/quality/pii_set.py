"""The labelled set behind `eval_pii`: JSON lines in `bench/data/pii/`, one passage each, split once into two halves.

    {"id": "de-h-004", "language": "de", "text": "...", "spans": [[16, 44, "EMAIL_ADDRESS"]]}

Half of the passages (by a hash of their id) is `dev`: rules are changed with those in view. The other half is `held`:
nobody tunes to it, and the floors stand on it. `python -m bench.quality.pii_set FILE LANGUAGE KIND` turns lines in
which `«TYPE|value»` marks what must go into records.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.places import PROJECT

FOLDER = PROJECT / "bench" / "data" / "pii"
_LABEL = re.compile(r"«(\w+)\|([^»]*)»")

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and what must be redacted in it: start, end (characters), type."""

    id: str
    language: str
    text: str
    spans: frozenset[Span]

    @property
    def half(self) -> str:
        """ "dev" or "held", for ever the same for an id."""
        return ("dev", "held")[hashlib.sha256(self.id.encode()).digest()[0] & 1]


def passages(name: str = "structured", half: str | None = None) -> Iterator[Passage]:
    """The passages of a set ("structured", "persons"), or of one half of it."""
    with (FOLDER / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            passage = Passage(row["id"], row["language"], row["text"], frozenset(map(tuple, row["spans"])))
            if half in {None, passage.half}:
                yield passage


def unmark(marked: str) -> tuple[str, list[Span]]:
    """Take the labels out of a text."""
    text, position = "", 0
    spans: list[Span] = []
    for match in _LABEL.finditer(marked):
        text += marked[position : match.start()]
        spans.append((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        position = match.end()
    return text + marked[position:], spans


def main() -> None:
    """Print the records of a file of marked lines; `\\n` and `\\t` in a line are a line break and a tab."""
    path, language, kind = sys.argv[1:4]
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        text, spans = unmark(line.replace("\\n", "\n").replace("\\t", "\t"))
        record = {"id": f"{language}-{kind}-{number:03}", "language": language, "text": text, "spans": spans}
        print(json.dumps(record, ensure_ascii=False))


if __name__ == "__main__":
    main()
