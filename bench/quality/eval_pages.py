"""How much of the text of 1,497 labelled pages, by page type, and of documentation packages the extraction finds.

Run: `python -m bench.quality.eval_pages [--data ../shared/data] [--cache FOLDER] [--half 0|1] [--limit N] [--save FILE]
[--against FILE] [--worst N] [--extractor NAME]`.

Labelled pages (`wcxb-dev.jsonl.zst`): F1 of the words as a multiset, precision and recall, mean by page type. The pages
fall into two halves by a hash of their domain: what is chosen on one is confirmed on the other. Pages with another
extractor's opinion (`readability-pages.jsonl.zst`): the same figures, which are agreement, not truth. Documentation
packages (those of `bench.web.realweb` that are unpacked in `--cache`): the share of the words of the element around
each page's text. `--save` writes a line a page; `--against` compares page by page with lines saved before and lists
those that lost most. Exit code 1 where a floor is broken.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import logging
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import zstandard
from lxml import html as lxml_html

from bench.places import SHARED_DATA
from bench.web.realweb import CACHE, PACKAGES
from crawler.config import ExtractionConfig
from crawler.document import Document, Drop
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.stage import ParseStage

FLOORS = {"labelled": 0.832, "article": 0.945, "packages": 0.945}
"""Mean F1 of all labelled pages and of articles, mean share of packages. May rise; a lower one needs a reason."""
PACKAGE_PAGES = 150
EXTRACTORS = ("trafilatura", "resiliparse", "learned")
"""Values of EXTRACTOR. The learned one was trained on the labelled pages: `bench.extraction evaluate` measures it."""
_WORD = re.compile(r"\w+")
_DECLARED = re.compile(rb"charset\s*=", re.IGNORECASE)
_BODIES = (
    './/*[@role="main"]',
    './/div[@class="yui-g"]',
    './/body/*[@id="content"]',
    './/body/*[@id="page-content"]',
    ".//body",
)
"""Where generators of documentation put the text; the first that is there."""
_CHROME = (
    "//script|//style|//noscript|//nav|//form|//button|//*[@role='navigation']|//*[contains(@class, 'navheader')]"
    "|//*[contains(@class, 'navfooter')]|//*[contains(@class, 'docnav')]|//*[@id='banner']|//*[@id='footer']"
    "|//div[@class='toc']|//a[@class='headerlink']|//div[@class='nosearch']|//div[@class='toplang']"
    "|//div[@class='bottomlang']|//div[@class='related']|//div[@class='sphinxsidebar']"
)
"""What generators put there around it: menus (`nosearch` is SQLite's head), lists of languages, buttons."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page and the text that is expected of it."""

    id: str
    group: str
    """labelled, agreement or packages"""
    kind: str
    """Page type, or the package."""
    url: str
    html: bytes
    expected: str


@dataclass(frozen=True, slots=True)
class Result:
    """What the extraction made of a page. Shares 0 to 1; `value` is what is averaged."""

    id: str
    group: str
    kind: str
    url: str
    value: float
    precision: float
    recall: float
    extractor: str
    seconds: float


def half_of(domain: str) -> int:
    """0 or 1, the same for all pages of a domain."""
    return hashlib.sha256(domain.encode()).digest()[0] & 1


def words(text: str) -> Counter[str]:
    """Words of a text, lower case."""
    return Counter(_WORD.findall(text.lower()))


def score(expected: str, found: str) -> tuple[float, float, float]:
    """F1, precision, recall of multisets of words; two empty texts agree."""
    wanted, got = words(expected), words(found)
    if not wanted or not got:
        return (float(wanted == got),) * 3
    shared = (wanted & got).total()
    precision, recall = shared / got.total(), shared / wanted.total()
    return 2 * shared / (wanted.total() + got.total()), precision, recall


def labelled(data: Path, half: int | None) -> Iterator[Page]:
    """Pages of `wcxb-dev.jsonl.zst`, all or one half of the domains."""
    for entry in read_lines(data / "wcxb-dev.jsonl.zst"):
        if half is None or half_of(entry["domain"]) == half:
            yield Page(
                entry["id"],
                "labelled",
                entry["page_type"],
                entry["url"],
                entry["html"].encode(),
                entry["main_content"] or "",
            )


def agreement(data: Path) -> Iterator[Page]:
    """Pages of `readability-pages.jsonl.zst` with the text of Readability.js."""
    for entry in read_lines(data / "readability-pages.jsonl.zst"):
        expected = _text_of(lxml_html.fromstring(entry["expected_html"] or "<p></p>"))
        yield Page(
            entry["id"], "agreement", "readability", f"http://{entry['id']}.test/", entry["html"].encode(), expected
        )


def packages(cache: Path, pages: int = PACKAGE_PAGES) -> Iterator[Page]:
    """Pages of the documentation packages, in a fixed pseudo-random order; one that is not unpacked is named."""
    for name, package in PACKAGES.items():
        root = cache / name / package.root
        if not root.is_dir():
            print(f"left out: {name} is not in {cache}", file=sys.stderr)
        found = sorted(p for p in root.rglob("*.html*") if p.is_file() and not p.is_symlink())
        random.Random(7).shuffle(found)
        for path in found[:pages]:
            body = path.read_bytes()
            relative = path.relative_to(root)
            yield Page(f"{name}/{relative}", "packages", name, f"http://{name}.test/{relative}", body, _body_text(body))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """JSON objects of a compressed file, one a line; none where there is no file."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        stream = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        for line in io.TextIOWrapper(stream, "utf-8"):
            yield json.loads(line)


def _body_text(body: bytes) -> str:
    """In the charset that the page declares, as a browser reads it: UTF-8 where it says nothing."""
    encoding = None if _DECLARED.search(body, 0, 1024) else "utf-8"
    tree = lxml_html.document_fromstring(body, parser=lxml_html.HTMLParser(encoding=encoding, remove_comments=True))
    for chrome in tree.xpath(_CHROME):
        chrome.drop_tree()
    return _text_of(next(found for path in _BODIES if (found := tree.find(path)) is not None))


def _text_of(tree: Any) -> str:
    return " ".join(tree.itertext())


class Extraction:
    """Our two stages, from bytes to text."""

    def __init__(self, extractor: str) -> None:
        self._parse = ParseStage()
        self._stage = ExtractionStage(ExtractionConfig(extractor=extractor, min_words=0))

    def text_of(self, page: Page) -> Document:
        doc = Document(url=page.url, html=page.html, content_type="text/html", crawled_at="2026-01-01T00:00:00Z")
        if not isinstance(self._parse(doc), Drop):
            self._stage(doc)
        return doc


def measure(pages: Iterable[Page], extractor: str = EXTRACTORS[0]) -> Iterator[Result]:
    """Every page through the stages."""
    extraction = Extraction(extractor)
    for page in pages:
        started = time.process_time()
        doc = extraction.text_of(page)
        seconds = time.process_time() - started
        f1, precision, recall = score(page.expected, doc.text)
        value = recall if page.group == "packages" else f1
        value, precision, recall, seconds = (round(number, 4) for number in (value, precision, recall, seconds))
        yield Result(page.id, page.group, page.kind, page.url, value, precision, recall, doc.extractor, seconds)


def table(results: Iterable[Result], before: dict[str, Result]) -> None:
    """A line a kind; with results of before, the paired difference and how many pages gained and lost."""
    kinds: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        kinds[result.group, result.kind].append(result)
        kinds[result.group, "all"].append(result)
    print(f"{'':36} pages  value  prec.  recall  ms" + ("   paired  gained  lost" if before else ""))
    for (group, kind), some in sorted(kinds.items()):
        means = [fmean(getattr(r, name) for r in some) for name in ("value", "precision", "recall")]
        line = f"{group:12}{kind:24}{len(some):6} {means[0]:6.4f} {means[1]:6.4f} {means[2]:6.4f} "
        print(line + f"{1000 * fmean(r.seconds for r in some):5.1f}" + (_paired(some, before) if before else ""))


def _paired(some: list[Result], before: dict[str, Result]) -> str:
    differences = [r.value - before[r.id].value for r in some if r.id in before]
    gained, lost = (sum(sign * d > 0.0005 for d in differences) for sign in (1, -1))
    return f"  {fmean(differences or [0.0]):+.4f} {gained:6} {lost:6}"


def list_worst(results: Iterable[Result], before: dict[str, Result], count: int) -> None:
    """The pages that lost most since."""
    lost = [(r.value - before[r.id].value, r) for r in results if r.id in before and r.value < before[r.id].value]
    for difference, r in sorted(lost, key=lambda pair: pair[0])[:count]:
        url = (r.url or "")[:90]
        print(f"{difference:+.3f} {before[r.id].value:.3f} -> {r.value:.3f} {r.group} {r.kind} {r.id} {url}")


def verdict(results: list[Result]) -> int:
    """Print what the floors say; 1 where one is broken. A set that is not there breaks none."""
    sets = {
        "labelled": [r.value for r in results if r.group == "labelled"],
        "article": [r.value for r in results if r.kind == "article"],
        "packages": [r.value for r in results if r.group == "packages"],
    }
    broken = 0
    for name, floor in FLOORS.items():
        if sets[name]:
            mean = fmean(sets[name])
            broken += mean < floor
            print(f"{name}: {mean:.4f} (floor {floor:.4f})")
    return int(broken > 0)


def read_results(path: Path) -> dict[str, Result]:
    """What `--save` wrote."""
    return {entry["id"]: Result(**entry) for entry in map(json.loads, path.read_text("utf-8").splitlines())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--cache", type=Path, default=CACHE, help="documentation packages, unpacked")
    parser.add_argument("--half", type=int, choices=(0, 1), default=None, help="one half of the labelled domains")
    parser.add_argument("--limit", type=int, default=None, help="only the first N pages of each set")
    parser.add_argument("--save", type=Path, default=None)
    parser.add_argument("--against", type=Path, default=None)
    parser.add_argument("--extractor", choices=EXTRACTORS, default=EXTRACTORS[0])
    parser.add_argument("--worst", type=int, default=20, help="how many of the pages that lost are listed")
    options = parser.parse_args()
    if not (options.data / "wcxb-dev.jsonl.zst").is_file():
        print(f"no labelled pages in {options.data}: give --data", file=sys.stderr)
        return 1
    logging.disable(logging.CRITICAL)
    before = read_results(options.against) if options.against else {}
    sets = labelled(options.data, options.half), agreement(options.data), packages(options.cache)
    results = [
        r
        for pages in sets
        for r in measure((p for _, p in zip(range(options.limit or 10**9), pages, strict=False)), options.extractor)
    ]
    if options.save:
        options.save.write_text("".join(json.dumps(asdict(r)) + "\n" for r in results), "utf-8")
    table(results, before)
    if before:
        list_worst(results, before, options.worst)
    return verdict(results)


if __name__ == "__main__":
    sys.exit(main())
