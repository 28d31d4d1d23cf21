"""CPU milliseconds a page of the stages behind the extraction, each alone, of this tree beside another one.

`git worktree add ../before REVISION`, then
`python -m bench.speed.stages_alone FOLDER --against ../before [--pages 300] [--rounds 4]`

HTML files below FOLDER are parsed and extracted once; each stage is then timed on texts that its process has not seen
since its caches were filled with other texts. The two trees take turns in processes of their own, so that what else
the machine does meets both: the least of the rounds is printed, and the median of the ratios.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.web.pages import sample
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain

STAGES = ("language", "quality", "pii", "contamination", "fingerprint")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, help="the other tree; without it only this one is timed")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    trees = {"now": Path.cwd(), **({"before": options.against.resolve()} if options.against else {})}
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
    for turn in range(options.rounds):
        for name in sorted(trees, reverse=bool(turn % 2)):
            rounds[name].append(_in_process(trees[name], options.folder.resolve(), options.pages))
    for stage in STAGES:
        least = {name: min(found[stage] for found in rounds[name]) for name in trees}
        line = "   ".join(f"{name} {least[name]:6.2f} ms" for name in sorted(trees))
        if "before" in trees:
            pairs = zip(rounds["now"], rounds["before"], strict=True)
            line += f"   ratio {statistics.median(now[stage] / before[stage] for now, before in pairs):.2f}"
        print(f"{stage:13} {line}")


def _in_process(tree: Path, folder: Path, pages: int) -> dict[str, float]:
    """This file measures the stages of any tree: only `crawler` is taken from there."""
    code = f"import sys; sys.path.insert(0, {str(tree)!r}); import crawler; sys.path.insert(0, {str(Path.cwd())!r}); "
    code += f"from bench.speed.stages_alone import measured; measured({str(folder)!r}, {pages})"
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tree, env=environment, check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(folder: str, pages: int) -> None:
    """Print the mean milliseconds of each stage as JSON; the first half of the pages only fills the caches."""
    chain = Chain(from_mapping({}))
    docs = [chain.run(doc, ("parse", "optout", "extraction")) for doc in sample(Path(folder), 2 * pages)]
    docs = [doc for doc in docs if doc.text]
    stages: dict[str, Callable[[Document], Any]] = dict(chain._stages)
    half, found = len(docs) // 2, {}
    for name in STAGES:
        for doc in docs[:half]:
            stages[name](doc)
        timed = [copy.deepcopy(doc) for doc in docs[half:]]
        start = time.process_time()
        for doc in timed:
            stages[name](doc)
        found[name] = 1000 * (time.process_time() - start) / max(len(timed), 1)
        docs[half:] = timed
    print(json.dumps(found))


if __name__ == "__main__":
    main()
