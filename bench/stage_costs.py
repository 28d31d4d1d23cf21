"""CPU time of every stage on a sample of real pages, one process, one after the other: `python -m bench.stage_costs`."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.realweb import unpacked
from crawler import config
from crawler.document import Document, Drop

SAMPLE = 150
WARM_UP = 5  # pages before the clock counts: models load on first use


def stages() -> dict[str, Callable[[Document], Document | Drop]]:
    """The chain in the order of the crawl."""
    from crawler.stages.extraction import ExtractionStage
    from crawler.stages.fingerprint import FingerprintStage
    from crawler.stages.language import LanguageStage
    from crawler.stages.optout import OptOutStage
    from crawler.stages.parse import ParseStage
    from crawler.stages.pii import PiiStage
    from crawler.stages.quality import QualityStage

    settings = config.from_mapping()
    return {
        "parse": ParseStage(),
        "optout": OptOutStage(settings.policy, settings.crawl.product_token),
        "extraction": ExtractionStage(settings.extraction),
        "language": LanguageStage(settings.language),
        "quality": QualityStage(settings.quality),
        "pii": PiiStage(settings.pii),
        "fingerprint": FingerprintStage(settings.dedup),
    }


def stage_costs(packages: list[str], sample: int = SAMPLE) -> dict[str, float]:
    """CPU seconds a page by stage, averaged over all pages of the sample; a dropped page costs later stages nothing."""
    files = sorted(file for name in packages for file in unpacked(name).rglob("*.html"))
    chosen = random.Random(1).sample(files, min(sample + WARM_UP, len(files)))
    chain, spent = stages(), Counter[str]()
    for number, file in enumerate(chosen):
        costs = _costs(chain, file)
        if number >= WARM_UP:
            spent.update(costs)
    count = max(1, len(chosen) - WARM_UP)
    return {name: spent[name] / count for name in chain} | {"all stages": sum(spent.values()) / count}


def _costs(chain: dict[str, Callable[[Document], Document | Drop]], file: Path) -> dict[str, float]:
    url = f"http://127.0.0.1/{file.name}"
    doc = Document(url=url, canonical_url=url, html=file.read_bytes(), content_type="text/html")
    costs: dict[str, float] = {}
    answer: Any = doc
    for name, stage in chain.items():
        started = time.process_time()
        answer = stage(doc)
        costs[name] = time.process_time() - started
        if isinstance(answer, Drop):
            break
    return costs


if __name__ == "__main__":
    for stage_name, seconds in stage_costs(sys.argv[1:] or ["postgresql-doc-15", "python3.11-doc"]).items():
        print(f"{stage_name:<12} {seconds * 1000:6.1f} ms")
