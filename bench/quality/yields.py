"""How often the yield quarantine would set aside pages of ordinary sites: real documentation, in the order of a crawl.

Run: `REALWEB_CACHE=FOLDER python -m bench.quality.yields [--pages N] [PACKAGE …]`. Packages are those of
`bench/web/realweb.py`, unpacked already; links are followed breadth first. One line a package: pages, mean yield and
its standard deviation, pages set aside, and how many of these have text enough to be kept; then the pages with a date.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from statistics import fmean, pstdev
from urllib.parse import urlsplit

from bench.web.pages import answer_to
from bench.web.realweb import CACHE, PACKAGES, Package
from crawler.config import ExtractionConfig
from crawler.document import Document, Drop
from crawler.quarantine.rule import History, YieldRule
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage

PAGES = 350
CRAWLED_AT = "2026-01-01T00:00:00Z"


def pages(package: Package, limit: int) -> Iterator[tuple[Document, bool]]:
    """Extracted pages in the order in which links lead to them, and whether each has text enough."""
    root, parse, stage = CACHE / package.name / package.root, ParseStage(), ExtractionStage(ExtractionConfig())
    queue, seen, count = deque(package.entries), set(package.entries), 0
    while queue and count < limit:
        path = queue.popleft()
        if (file := answer_to(root, path)) is None:
            continue
        doc = Document(f"http://{package.name}.test{path}", html=file.read_bytes(), content_type="text/html")
        doc.crawled_at = CRAWLED_AT
        if isinstance(parse(doc), Drop):
            continue
        enough = isinstance(stage(doc), Document)
        yield doc, enough
        count += 1
        found = [urlsplit(link).path for link in doc.links if urlsplit(link).netloc == f"{package.name}.test"]
        fresh = [link for link in dict.fromkeys(found) if link not in seen]
        seen.update(fresh)
        queue.extend(fresh)


def line(package: Package, limit: int) -> str:
    rule, history = YieldRule(), History()
    yields, low, low_enough, dated = [], 0, 0, 0
    for doc, enough in pages(package, limit):
        value = doc.extraction_yield or 0.0
        judged = rule.see(history, value, doc.text)
        yields.append(value)
        low += judged.low
        low_enough += judged.low and enough
        dated += doc.pub_date is not None
    if not yields:
        return f"{package.name:28} not in {CACHE}"
    numbers = f"{len(yields):6} {fmean(yields):7.3f} {pstdev(yields):7.3f} {low:6} {low_enough:6} {dated:6}"
    return f"{package.name:28} {numbers}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=PAGES, help=f"of each package; {PAGES}")
    parser.add_argument("packages", nargs="*", default=list(PACKAGES), help="names of bench/web/realweb.py; all")
    options = parser.parse_args()
    unknown = [name for name in options.packages if name not in PACKAGES]
    if unknown:
        print(f"unknown package {unknown[0]}: expected {', '.join(PACKAGES)}", file=sys.stderr)
        return 1
    print(f"{'':28} {'pages':>6} {'yield':>7} {'sd':>7} {'aside':>6} {'of use':>6} {'dated':>6}")
    for name in options.packages:
        print(line(PACKAGES[name], options.pages), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
