"""Run by another Python, one that has fastText: trains models of every shape and says what the library scores.

    PYTHON bench/quality/fasttext_library.py FOLDER   (called by bench.quality.fasttext_equal)

FOLDER has `train.txt` and `ask.txt`, a text a line, and gets for each shape a model and `NAME.npy`: probabilities
(texts × labels, labels in the order of `NAME.labels`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import fasttext
import numpy as np

SMALL = {"dim": 16, "epoch": 5, "lr": 0.5, "minCount": 1, "bucket": 20000, "thread": 1, "verbose": 0}
SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "softmax": ({"loss": "softmax"}, None),
    "softmax, runs of 3 words": ({"loss": "softmax", "wordNgrams": 3}, None),
    "softmax, subwords 2-5": ({"loss": "softmax", "minn": 2, "maxn": 5}, None),
    "two classes, runs of 2 (DCLM)": ({"two": True, "loss": "softmax", "wordNgrams": 2, "dim": 100}, None),
    "two classes, runs of 3, subwords (Dolma)": ({"two": True, "wordNgrams": 3, "minn": 3, "maxn": 6, "dim": 64}, None),
    "hierarchical": ({"loss": "hs", "wordNgrams": 2}, None),
    "hierarchical, subwords, of two": ({"two": True, "loss": "hs", "minn": 1, "maxn": 3}, None),
    "one against all": ({"loss": "ova", "wordNgrams": 2}, None),
    "negative samples": ({"loss": "ns", "minn": 2, "maxn": 4}, None),
    "quantised": ({"loss": "softmax", "wordNgrams": 2}, {}),
    "quantised, norms apart": ({"loss": "softmax", "wordNgrams": 2}, {"qnorm": True}),
    "300 labels, odd width, outputs quantised": ({"parts": 4, "dim": 17}, {"qout": True, "qnorm": True, "dsub": 3}),
    "300 labels, hierarchical, outputs quantised": ({"parts": 4, "loss": "hs"}, {"qout": True}),
    "cut off": ({"loss": "softmax", "wordNgrams": 2}, {"cutoff": 3000}),
    "cut off, retrained, norms apart": ({"loss": "softmax", "minn": 2, "maxn": 4},
                                        {"cutoff": 3000, "retrain": True, "qnorm": True}),
    "cut off to 256 rows": ({"loss": "softmax", "wordNgrams": 2, "minCount": 2}, {"cutoff": 256}),
    "hierarchical, quantised (lid.176)": ({"loss": "hs", "minn": 2, "maxn": 4},
                                          {"cutoff": 5000, "retrain": True, "qnorm": True}),
    "one against all, quantised": ({"loss": "ova"}, {"qnorm": True}),
    "another mark of labels": ({"loss": "softmax", "minn": 2, "maxn": 4, "label": "@@"}, None),
}  # fmt: skip


def main(folder: Path) -> None:
    """Make all, one after the other."""
    asked = folder.joinpath("ask.txt").read_text(encoding="utf-8").split("\n")[:-1]
    for name, (special, smaller) in SHAPES.items():
        how = SMALL | special
        mark = how.get("label", "__label__")
        two, parts = how.pop("two", False), how.pop("parts", 1)
        source = folder / "made.txt"
        with source.open("w", encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(folder.joinpath("train.txt").read_text(encoding="utf-8").split("\n")[:-1]):
                label, text = line.split(" ", 1)
                label = ("good" if label < "l" else "bad") if two else f"{label}{number % parts or ''}"
                file.write(f"{mark}{label} {text}\n")
        model = fasttext.train_supervised(str(source), **how)
        if smaller is not None:
            again = {"epoch": 1, "lr": 0.1, "thread": 1} if smaller.get("retrain") else {}
            model.quantize(input=str(source), **smaller, **again)
        at = folder / f"{name}.{'bin' if smaller is None else 'ftz'}"
        model.save_model(str(at))
        library = fasttext.load_model(str(at))
        labels = library.get_labels()
        place = {label: number for number, label in enumerate(labels)}
        found = np.zeros((len(asked), len(labels)))
        for row, text in enumerate(asked):
            for chance, label in library.f.predict(f"{text}\n", len(labels), -1.0, "strict"):
                found[row, place[label]] = chance
        np.save(folder / f"{name}.npy", found)
        folder.joinpath(f"{name}.labels").write_text("\n".join(labels), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
