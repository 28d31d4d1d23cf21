"""Input of the replay benches: archives of real documentation pages, as our own crawl writes them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path

from bench.web.pages import html_files, page_of
from bench.web.realweb import unpacked
from crawler.config import from_mapping
from crawler.document import Exchange
from crawler.storage.corpus.corpus import Corpus

PACKAGES = ("python3.11-doc", "postgresql-doc-15", "python-django-doc", "sqlite3-doc")
"""English packages: datatrove's filters are made for English."""
_EPOCH = 1_767_225_600.0


def pages_of(packages: tuple[str, ...], count: int) -> list[tuple[str, bytes]]:
    """URL and bytes of so many pages, taken from the packages in turn, in the order of their names."""
    sites = [_site(name) for name in packages]
    mixed = (page for group in zip_longest(*sites) for page in group if page is not None)
    return list(islice(mixed, count))


def _site(package: str) -> Iterator[tuple[str, bytes]]:
    root = unpacked(package)
    for path in html_files(root):
        page = page_of(root, path, f"{package}.test")
        yield page.url, page.html


def write_archives(pages: list[tuple[str, bytes]], folder: Path, files: int) -> Path:
    """Write the pages into so many WARC files, one after the other; the folder of these files."""
    size = -(-len(pages) // files)
    for number in range(files):
        config = from_mapping({"CORPUS_DIR": str(folder), "WORKER_ID": f"w{number}"})
        corpus = Corpus(config, clock=lambda: _EPOCH)
        corpus.open()
        for at, (url, body) in enumerate(pages[number * size : (number + 1) * size]):
            headers = [(b"Content-Type", b"text/html; charset=utf-8")]
            moment = _EPOCH + number * size + at
            corpus.archive(Exchange("GET", url, 200, [], headers, body, fetched_at=moment))
        corpus.close()
    return folder / "archive"
