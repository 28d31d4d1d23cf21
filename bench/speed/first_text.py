"""CPU seconds that the first text of a language costs a process whose stages are loaded.

`python -m bench.speed.first_text [LANGUAGE …] [--against ../before] [--rounds 3]`

Each figure is the least of the rounds, each in a process of its own; the trees take turns. "loading" is spaCy itself,
which a process imports once, for whatever language.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

LANGUAGES = ("fr", "id", "ms", "nl", "de", "es", "tr")
TEXT = "“L'arc-en-ciel” (Dr. A. Muster), 10km z.B. bapak-bapak auto's; e-mail: a@example.org!"
_CODE = """
import time
import crawler.stages.quality.stage
from crawler.stages.quality.tokenizers import fast
start = time.process_time()
import spacy
loaded = time.process_time()
fast({language!r}).words({text!r})
print(loaded - start, time.process_time() - loaded)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=LANGUAGES, metavar="LANGUAGE", help="ISO 639-1 codes")
    parser.add_argument("--against", type=Path, help="another tree to measure in turn")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    trees = {"now": Path.cwd(), **({"before": options.against.resolve()} if options.against else {})}
    print("   ".join(["language", *(f"{name} (s)   loading (s)" for name in trees)]))
    for language in options.languages:
        rounds = {name: list[tuple[float, float]]() for name in trees}
        for _ in range(options.rounds):
            for name, tree in trees.items():
                rounds[name].append(seconds(tree, language))
        least = (tuple(map(min, zip(*found, strict=True))) for found in rounds.values())
        print("   ".join([f"{language:8}", *(f"{first:7.3f}   {loading:11.2f}" for loading, first in least)]))


def seconds(tree: Path, language: str) -> tuple[float, float]:
    """CPU seconds of loading spaCy, and of the first text behind it, in a fresh process with the code of `tree`."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE.format(language=language, text=TEXT)],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        check=True,
        capture_output=True,
        text=True,
    )
    loading, first = map(float, done.stdout.split())
    return loading, first


if __name__ == "__main__":
    main()
