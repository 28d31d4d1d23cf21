"""Train the learned extractor's model, or measure it by cross-validation over sites.

Run: `python -m bench.extraction train [--out FILE]` or `python -m bench.extraction evaluate [--folds 3]`, both with
`[--data ../shared/data] [--cache FOLDER]`. `evaluate` never measures a page with trees or tables that saw its site.
`stamp [--out FILE]` writes a trained model anew with the features and the card of today, for who has changed what they
are on the probe, and has found that they still mean what the model was trained on.
"""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from bench.extraction.data import examples
from bench.extraction.evaluate import evaluate, table
from bench.extraction.train import train, write_model
from bench.places import SHARED_DATA
from bench.web.realweb import CACHE, PACKAGES, RealWebError, unpacked
from crawler.stages.extraction.learned.model import model_of
from crawler.stages.models.file import read

OWN = Path("crawler/stages/extraction/learned/model.npz")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "evaluate", "stamp"))
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--cache", type=Path, default=CACHE, help="documentation packages, unpacked")
    parser.add_argument("--out", type=Path, default=OWN)
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args()
    if options.what == "stamp":
        write_model(model_of(read(str(options.out))), options.out)
        return 0
    if not (options.data / "wcxb-dev.jsonl.zst").is_file():
        print(f"no labelled pages in {options.data}: give --data", file=sys.stderr)
        return 1
    logging.disable(logging.CRITICAL)
    for name in PACKAGES:  # with other pages it is another model
        unpacked(name, options.cache)
    pages = examples(options.data, options.cache)
    if options.what == "train":
        write_model(train(pages), options.out)
        print(f"{options.out}: {options.out.stat().st_size} bytes")
    else:
        table(evaluate(pages, options.folds))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RealWebError as error:
        sys.exit(str(error))
