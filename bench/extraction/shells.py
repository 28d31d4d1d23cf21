"""How many ordinary pages look like a shell? `python -m bench.extraction.shells [--data FOLDER] [HTML_FOLDER …]`.

Reads the development pages of WCXB and Readability's pages (`--data`, by default `CRAWLER_SHARED_DATA`), the Debian
documentation that `bench.web.realweb` has unpacked (all its pages), and every HTML file of the folders that are named;
one line for each set: pages, pages that show so little that the question is asked, pages that look like a shell, and
those of them that show a word, each by its address. Exit code 1 where there is one: such a page would be drawn for
nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.quality.eval_pages import Page, agreement, labelled, packages
from bench.web.pages import html_files
from bench.web.realweb import CACHE
from crawler.config import ExtractionConfig
from crawler.document import Document
from crawler.stages.extraction.stage import ExtractionStage
from crawler.stages.parse.shell import looks_like_shell
from crawler.stages.parse.stage import ParseStage

EVERY = 10**6
"""Pages of a documentation package."""


@dataclass
class Count:
    """One set of pages. `with_words`: addresses of shells that show a word; `bare`: of those that show none."""

    pages: int = 0
    asked: int = 0
    bare: list[str] = field(default_factory=list)
    with_words: list[str] = field(default_factory=list)


def count(pages: Iterable[tuple[str, bytes]]) -> Count:
    """Pages by address, each through the stages that the decision needs."""
    parse, extract, found = ParseStage(), ExtractionStage(ExtractionConfig()), Count()
    for url, html in pages:
        doc = Document(url=url, html=html, content_type="text/html")
        parse(doc)
        found.pages += 1
        if features := doc.render_signals.get("shell", {}):
            found.asked += 1
            extract(doc)
            if looks_like_shell(features, doc.word_count):
                (found.with_words if features.get("visible_words") else found.bare).append(url)
    return found


def sets(data: Path | None, folders: list[Path]) -> Iterator[tuple[str, Iterator[tuple[str, bytes]]]]:
    """Every set that is there, by its name."""
    if data is not None:
        folder = data / "extraction" if (data / "extraction").is_dir() else data
        place = data if (data / "wcxb-dev.jsonl.zst").exists() else folder
        yield "wcxb-dev", _of(labelled(place, None))
        yield "readability", _of(agreement(place))
    yield "documentation", _of(packages(CACHE, EVERY))
    for folder in folders:
        yield str(folder), ((str(file), file.read_bytes()) for file in html_files(folder))


def _of(pages: Iterable[Page]) -> Iterator[tuple[str, bytes]]:
    return ((page.url, page.html) for page in pages)


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(prog="python -m bench.extraction.shells", description=__doc__)
    shared = os.environ.get("CRAWLER_SHARED_DATA")
    parser.add_argument("--data", type=Path, default=Path(shared) if shared else None)
    parser.add_argument("folders", type=Path, nargs="*")
    options = parser.parse_args()
    false, pages = 0, 0
    for name, found in ((name, count(pages)) for name, pages in sets(options.data, options.folders)):
        shells = len(found.bare) + len(found.with_words)
        print(f"{name}: {found.pages} pages, {found.asked} show little, {shells} look like a shell, "
              f"{len(found.with_words)} of them show words")  # fmt: skip
        for url in [*found.bare, *found.with_words]:
            print(f"    {url}")
        false, pages = false + len(found.with_words), pages + found.pages
    if not pages:
        print("no pages: name a folder of HTML files, or --data", file=sys.stderr)
    return int(bool(false) or not pages)


if __name__ == "__main__":
    sys.exit(main())
