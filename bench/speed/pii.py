"""What the personal-data stage costs: `python -m bench.speed.pii [FOLDER] [--pages 600]`, process CPU time a page.

Three groups of real documentation pages: without any candidate of the pre-scan, with candidates, and all of them with
names beside identifiers (`PII_PERSON=contextual`). The best of three rounds counts; the model is loaded before.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bench.quality.pii_docs import DEFAULT
from bench.web.texts import files
from bench.web.texts import texts as records_of
from crawler.config import from_mapping
from crawler.stages.pii.ids import TRIGGERS
from crawler.stages.pii.page import lower_keeping_offsets
from crawler.stages.pii.scan import scan
from crawler.stages.pii.stage import PiiStage


def cost(stage: PiiStage, texts: list[str]) -> float:
    """Mean milliseconds of process CPU time a text, best of three rounds."""
    rounds = []
    for _ in range(3):
        start = time.process_time()
        for text in texts:
            stage.hits(text, "en")
        rounds.append(time.process_time() - start)
    return 1_000 * min(rounds) / max(1, len(texts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--pages", type=int, default=600)
    options = parser.parse_args()
    records = records_of(options.folder, files(options.folder, options.pages))
    texts = [record["text"] for record in records]
    marked = [any(scan(text, lower_keeping_offsets(text), TRIGGERS)) for text in texts]
    structured = PiiStage(from_mapping({"PII_PERSON": "off"}).pii)
    contextual = PiiStage(from_mapping({"PII_PERSON": "contextual"}).pii)
    contextual.hits("Call Jane Doe at +1 415 555 0132.", "en")
    groups = {
        "structured, no candidate": (structured, [t for t, m in zip(texts, marked, strict=True) if not m]),
        "structured, candidates": (structured, [t for t, m in zip(texts, marked, strict=True) if m]),
        "contextual, all pages": (contextual, texts),
    }
    for name, (stage, group) in groups.items():
        size = sum(map(len, group)) / max(1, len(group)) / 1_000
        print(
            f"{name:26} {cost(stage, group):6.2f} ms a page  ({len(group)} pages, mean {size:.1f} thousand characters)"
        )


if __name__ == "__main__":
    main()
