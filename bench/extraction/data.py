"""Examples are labelled pages as the model sees them: walked, with a label for every block and the site they are of.

Sources: `wcxb-dev.jsonl.zst`, half of `readability-pages.jsonl.zst` (another extractor's opinion) and the documentation
packages that `bench.web.realweb` has unpacked. The other half of Readability's pages is for evaluation alone.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.extraction.labels import labels
from bench.quality.eval_pages import Page, agreement, half_of, labelled, packages, read_lines
from crawler.stages.extraction.common import correct
from crawler.stages.extraction.escaped import unescape
from crawler.stages.extraction.hidden import drop_hidden, hidden_in
from crawler.stages.extraction.learned.said import said
from crawler.stages.extraction.learned.walk import Walked, walk
from crawler.stages.extraction.shadow import open_shadows
from crawler.stages.parse.stage import parse_html
from crawler.stages.text.charset import decode
from crawler.urls.canonicalize import registrable_domain


@dataclass(frozen=True, slots=True)
class Example:
    """A page to learn from or to measure on."""

    page: Page
    site: str
    title: str
    walked: Walked
    labels: list[float]
    said: frozenset[int]
    """What the page says of itself, hashed."""

    @property
    def is_for_training(self) -> bool:
        """False for the half of Readability's pages that is kept for evaluation."""
        return self.page.group != "agreement" or half_of(self.page.id) == 0


def examples(data: Path, cache: Path, workers: int = 2) -> list[Example]:
    """All examples that are there, in a fixed order."""
    pages = [*labelled(data, None), *agreement(data), *packages(cache)]
    known = sites(data)
    owners = [known[p.id] if p.group == "labelled" else registrable_domain(p.url) for p in pages]
    with ProcessPoolExecutor(workers) as pool:
        found = pool.map(example, pages, owners, chunksize=8)
        return [one for one in found if one is not None]


def example(page: Page, site: str) -> Example | None:
    """A page walked and labelled; None where it cannot be parsed or has no text."""
    decoded = decode(page.html, None)
    tree = parse_html(decoded[0]) if decoded else None
    if tree is None or isinstance(tree, str):
        return None
    open_shadows(tree)  # from here on as crawler/stages/extraction/stage.py prepares a page
    unescape(tree, page.html)
    drop_hidden(hidden_in(tree))
    correct(tree, page.html)
    walked = walk(tree)
    if not walked.texts:
        return None
    title = tree.findtext(".//title") or ""
    return Example(page, site, title, walked, labels(walked.texts, page.expected), said(tree, walked.names))


def sites(data: Path) -> dict[str, str]:
    """Registrable domain of every labelled page by its id; a page without one is a site of its own."""
    domains = ((str(entry["id"]), entry["domain"]) for entry in read_lines(data / "wcxb-dev.jsonl.zst"))
    return {id_: registrable_domain(f"http://{domain}/") if domain else f"page {id_}" for id_, domain in domains}
