"""The comparisons of docs/experiment.md: `python -m bench.trial.compare --held-out FOLDER [NAME …]`.

Names: `extraction` (our rules first; learned extractor, trafilatura, raw text, the text that people marked), `quality`
(every extracted text; those that the quality rules keep, as they clean them), `pii` (texts as they are; redacted),
`copies` (with 25 % copies; without). All sides are of the labelled pages (`bench.trial.pages`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.machine import commit, machine
from bench.trial.pages import read, sides, write
from bench.trial.separates import told
from crawler.config import from_mapping
from crawler.document import Document, Drop
from crawler.stages.language.stage import LanguageStage
from crawler.stages.pii.stage import PiiStage
from crawler.stages.quality.stage import QualityStage
from crawler.trial.trial import SEEDS, SIZE, run

Page = dict[str, Any]
Judge = Callable[[Document], Document | Drop]


def kept(records: list[Page], stages: list[Judge]) -> Iterator[Page]:
    """What the stages keep of the records, with the text that they leave."""
    for record in records:
        doc = Document(record["url"], text=record["text"], title=record["title"])
        if all(isinstance(stage(doc), Document) for stage in stages):
            yield record | {"text": doc.text}


def _quality() -> list[Judge]:
    config = from_mapping({})
    return [LanguageStage(config.language), QualityStage(config.quality)]


def _pii() -> list[Judge]:
    config = from_mapping({"PII_PERSON": "off"})
    return [LanguageStage(config.language), PiiStage(config.pii)]


MADE: dict[str, Callable[[], list[Judge]]] = {"quality": _quality, "pii": _pii}
GIVEN = {
    "extraction": ("ours", "learned", "trafilatura", "raw", "human"),
    "copies": ("copies", "ours"),
}


def files_of(name: str, folder: Path, files: dict[str, Path]) -> list[Path]:
    """The sides of a comparison, the first one first; those that have to be made are made once."""
    if name in GIVEN:
        return [files[side] for side in GIVEN[name]]
    made = folder / f"{name}.jsonl"
    if not made.exists():
        write(made, list(kept(read(files["ours"]), MADE[name]())))
    return [files["ours"], made]


def main() -> int:
    names = [*GIVEN, *MADE]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all")
    parser.add_argument("--held-out", action="append", required=True)
    parser.add_argument("--folder", type=Path, default=Path("bench/.cache/trial"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--size", type=int, default=SIZE)
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in names]:
        print(f"unknown comparison {unknown[0]}: expected {', '.join(names)}", file=sys.stderr)
        return 1
    files = sides(options.folder)
    print(machine(), commit(), sep="; ")
    for name in options.names or names:
        paths, begin = files_of(name, options.folder, files), time.process_time()
        found = run(list(map(str, paths)), options.held_out, from_mapping({}), seeds=options.seeds, size=options.size)
        print(f"{name}: beside {paths[0].stem}, {time.process_time() - begin:.0f} CPU seconds")
        print(*(f"  {side.name}: {side.texts:,} texts, {side.size:,} bytes" for side in found.sides), sep="\n")
        print(*map(told, found.compared), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
