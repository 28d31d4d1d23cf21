"""CPU milliseconds per page and stage, on real documentation pages.

`python -m bench.speed.stages FOLDER [--pages 300]`

Reads HTML files below FOLDER in a fixed pseudo-random order, runs the whole chain on each in this process, and prints a
table: milliseconds a page (mean, median, 95th percentile) by stage, pages per second of one core, verdicts by reason.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter, defaultdict
from pathlib import Path

from bench.web.pages import sample
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import STAGES, Chain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    options = parser.parse_args()
    chain = Chain(from_mapping({}))
    docs = list(sample(options.folder, options.pages))
    size = sum(len(d.html) for d in docs)
    for doc in docs[:5]:
        chain.run(Document(url=doc.url, html=doc.html, content_type="text/html"))
    start = time.process_time()
    times: dict[str, list[float]] = defaultdict(list)
    verdicts: Counter[str] = Counter()
    for doc in docs:
        done = chain.run(doc)
        verdicts[done.verdict.reason if done.verdict else "kept"] += 1
        for name, seconds in done.timings.items():
            times[name].append(1000 * seconds)
    total = time.process_time() - start
    print(f"{len(docs)} pages, mean {size / len(docs) / 1000:.1f} kB; {len(docs) / total:.1f} pages/s of one core")
    print(f"{'stage':12} {'pages':>6} {'mean':>8} {'median':>8} {'p95':>8}   ms a page it saw")
    for name in STAGES:
        values = sorted(times[name]) or [0.0]
        p95 = values[int(0.95 * (len(values) - 1))]
        print(f"{name:12} {len(values):6} {statistics.mean(values):8.2f} {statistics.median(values):8.2f} {p95:8.2f}")
    for reason, count in verdicts.most_common():
        print(f"{count:6}  {reason}")


if __name__ == "__main__":
    main()
