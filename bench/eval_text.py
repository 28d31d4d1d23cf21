"""Precision, recall and F of the extraction chain beside trafilatura's own configurations, and the cost of each.

Run: `python bench/eval_text.py [--data ../shared/data/extraction] [--limit N]`. The data are real pages with segments
that must ("with") or must not ("without") appear in the main text; white space does not count.
Nothing is tuned to these pages: they show regressions and orders of magnitude.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trafilatura import extract
from trafilatura.utils import load_html

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from crawler.config import ExtractionConfig  # noqa: E402
from crawler.document import Document  # noqa: E402
from crawler.stages.extraction import ExtractionStage  # noqa: E402
from crawler.stages.parse import ParseStage  # noqa: E402

Extract = Callable[[str, bytes], str]


@dataclass
class Score:
    """Counts of segments, and processor seconds."""

    right: int = 0
    missed: int = 0
    wrong: int = 0
    seconds: float = 0.0
    pages: int = 0

    def add(self, text: str, entry: dict[str, Any]) -> None:
        flat = " ".join(text.split())
        hits = sum(" ".join(segment.split()) in flat for segment in entry["with"])
        self.right += hits
        self.missed += len(entry["with"]) - hits
        self.wrong += sum(" ".join(segment.split()) in flat for segment in entry["without"])
        self.pages += 1

    def row(self, name: str) -> str:
        precision = self.right / max(self.right + self.wrong, 1)
        recall = self.right / max(self.right + self.missed, 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        return f"{name:34} {precision:9.3f} {recall:7.3f} {f1:7.3f} {1000 * self.seconds / max(self.pages, 1):9.1f}"


def ours(extractor: str) -> Extract:
    """The project's two stages, from bytes to text."""
    parse = ParseStage()
    stage = ExtractionStage(ExtractionConfig(extractor=extractor, min_words=0))

    def run(url: str, html: bytes) -> str:
        doc = Document(url=url, html=html, content_type="text/html")
        parsed = parse(doc)
        if isinstance(parsed, Document):
            stage(doc)
        return doc.text

    return run


def theirs(**options: Any) -> Extract:
    """trafilatura on its own: parse and text, no metadata."""

    def run(url: str, html: bytes) -> str:
        tree = load_html(html)
        return (extract(tree, url=url, **options) or "") if tree is not None else ""

    return run


CANDIDATES: dict[str, Extract] = {
    "this project (with metadata)": ours("trafilatura"),
    "this project, resiliparse": ours("resiliparse"),
    "trafilatura": theirs(),
    "trafilatura, no comments": theirs(include_comments=False),
    "trafilatura fast, no comments": theirs(include_comments=False, fast=True),
    "trafilatura precise, no comments": theirs(include_comments=False, favor_precision=True),
    "trafilatura recall, no comments": theirs(include_comments=False, favor_recall=True),
}


def pages(data: Path) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """URL, bytes and expected segments of every page."""
    segments = json.loads((data / "segments.json").read_text("utf-8"))
    with tarfile.open(data / "pages.tar.gz") as archive:
        members = {Path(m.name).name: m for m in archive if m.isfile()}
        for url, entry in segments.items():
            member = members.get(Path(entry["file"]).name)
            if member is not None and (file := archive.extractfile(member)) is not None:
                yield url, file.read(), entry


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "extraction")
    parser.add_argument("--limit", type=int, default=None, help="only the first N pages")
    options = parser.parse_args()
    if not (options.data / "segments.json").is_file():
        print(f"no evaluation data in {options.data}: give --data", file=sys.stderr)
        return 1
    logging.disable(logging.CRITICAL)
    scores = {name: Score() for name in CANDIDATES}
    for url, html, entry in list(pages(options.data))[: options.limit]:
        for name, run in CANDIDATES.items():
            started = time.process_time()
            text = run(url, html)
            scores[name].seconds += time.process_time() - started
            scores[name].add(text, entry)
    print(f"{next(iter(scores.values())).pages} pages{'':24} precision  recall       F   ms/page")
    for name, score in scores.items():
        print(score.row(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
