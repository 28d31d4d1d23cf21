"""Our reader of fastText's files against the library itself, on models that it trains here: all labels of all texts.

    python -m bench.quality.fasttext_equal --python VENV/bin/python [--texts 1000] [--data ../shared/data]

VENV has a fastText that trains (`fasttext-wheel` with `numpy<2`). Texts: sentences of 75 languages (one half trains,
the language is the label; the other half is asked, with odd texts of ours). Exit code 1 where a score is further from
the library's than 1e-4 (one against all and negative samples, by its table of the sigmoid, 1e-2).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.places import PROJECT, SHARED_DATA
from crawler.classify.fasttext_file import read

LIMIT_SECONDS = 1800
NEAR, BY_TABLE = 1e-4, 1e-2
ODD = [
    "", " ", "</s>", "a </s> b c", "__label__en the rain", "@@en the rain", "@@zz the rain",
    "@@fi " * 50 + "the rain", "__label__fi " * 50 + "rain",
    "x\u00a0y\u3000z",
    "tab\tand\x0bfeed\x0c", "\U0001f600 \u0301 \u200b", "e" * 5000, "the " * 3000, "\x00 nul \x00", "<the> < > BOW",
    "\ufeffthe", "THE The the", "東京 नई ไทย",
]  # fmt: skip
"""Nobody writes these, and every crawl meets them."""


def main() -> int:
    """Print a row for each shape of model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="a Python with a fastText that trains")
    parser.add_argument("--texts", type=int, default=1000, help="asked of each model, beside the odd ones")
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    options = parser.parse_args()
    source = options.data / "languages" / "sentences.tsv"
    if not source.is_file():
        sys.exit(f"{source} is not there: give --data")
    lines = [line.split("\t", 1) for line in source.read_text(encoding="utf-8").splitlines() if "\t" in line]
    asked = [text for _, text in lines[1::2]][: options.texts] + ODD
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "train.txt", [f"{label} {text}" for label, text in lines[::2]])
        _write(folder / "ask.txt", asked)
        script = PROJECT / "bench" / "quality" / "fasttext_library.py"
        subprocess.run([options.python, script, folder], check=True, timeout=LIMIT_SECONDS)
        return _compared(folder, asked)


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")


def _scores(file: Path, label: str, asked: list[str], parted: dict[str, Any]) -> list[float]:
    """Of one label; a text is parted into rows once a file, because labels by the hundred ask for the same."""
    model = read(file, label)
    if not parted:
        parted.update((text, model._rows_of(text)) for text in asked)
    object.__setattr__(model, "_rows_of", parted.__getitem__)
    return [model.score(text) for text in asked]


def _compared(folder: Path, asked: list[str]) -> int:
    wrong = 0
    print("| model | labels | texts | greatest difference | allowed | beyond |")
    print("|---|---|---|---|---|---|")
    for path in sorted(folder.glob("*.npy")):
        name, theirs, parted = path.stem, np.load(path), dict[str, Any]()
        labels = folder.joinpath(f"{name}.labels").read_text(encoding="utf-8").split("\n")
        [file] = [one for one in folder.glob(f"{name}.*") if one.suffix in (".bin", ".ftz")]
        ours = np.array([_scores(file, label, asked, parted) for label in labels]).T
        apart = np.abs(ours - theirs)
        allowed = BY_TABLE if name.startswith(("one against", "negative")) else NEAR
        beyond = int((apart > allowed).any(1).sum())
        wrong += beyond
        print(f"| {name} | {len(labels)} | {len(asked)} | {apart.max():.1e} | {allowed:.0e} | {beyond} |", flush=True)
        for row in np.flatnonzero((apart > allowed).any(1))[:3]:
            at = int(apart[row].argmax())
            print(f"  {asked[row][:40]!r}: {labels[at]} {ours[row, at]:.6f}, the library {theirs[row, at]:.6f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
