"""HTML pages of documentation packages, or of any folder, in an order that can be repeated."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from crawler.document import Document

SEED = 7


def html_files(*folders: Path, seed: int | None = None, pattern: str = "*.html") -> list[Path]:
    """The HTML files below the folders: by name, or in the order of a seed; symbolic links are left out."""
    found = sorted(p for folder in folders for p in folder.rglob(pattern) if p.is_file() and not p.is_symlink())
    if seed is not None:
        random.Random(seed).shuffle(found)
    return found


def page_of(root: Path, file: Path, host: str = "localhost") -> Document:
    """A file below `root` as a page that a crawl of this host has fetched."""
    url = f"http://{host}/{file.relative_to(root).as_posix()}"
    return Document(url=url, html=file.read_bytes(), content_type="text/html")


def sample(root: Path, pages: int, seed: int = SEED) -> Iterator[Document]:
    """So many pages of a folder in a fixed pseudo-random order."""
    return (page_of(root, file) for file in islice(html_files(root, seed=seed), pages))


def answer_to(root: Path, path: str) -> Path | None:
    """The HTML file with which a web server would answer a URL path; None where there is none."""
    file = root / unquote(path).lstrip("/")
    file = file / "index.html" if file.is_dir() else file
    return file if file.is_file() and file.suffix in {".html", ".htm"} else None
