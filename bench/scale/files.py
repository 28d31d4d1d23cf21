"""Real files as documents: manual pages and documentation, as packages of a distribution have them.

`apt-get download PACKAGE …`, `dpkg-deb -x FILE FOLDER`, and the folder is what is read. Of HTML the text of its
elements counts, of a manual page its source without comments, of all else the text as it is; no stage judges them.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

from lxml import html

from bench.scale.documents import Made
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.fingerprint import FingerprintStage

KINDS = frozenset({".html", ".htm", ".xhtml", ".txt", ".md", ".rst"})
LEAST = 200
"""Characters of a text; what is shorter is no document."""
MOST = 2 * 2**20
"""Bytes of a file."""


def read(folder: Path, count: int) -> list[Made]:
    """The first `count` documents in an order that mixes the packages; fewer where there are not so many.

    Raises: ValueError where there is none.
    """
    paths = _in_order(folder)
    found: list[Made] = []
    with ProcessPoolExecutor() as executor:
        for some in _batched(paths, 2_000):
            if len(found) < count:
                found += filter(None, executor.map(_made, some, [folder] * len(some), chunksize=100))
    del found[count:]
    if not found:
        raise ValueError(f"{folder}: expected files of documentation (HTML, text, manual pages), found none")
    return found


def _paths(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        kinds = [suffix for suffix in path.suffixes if suffix != ".gz"]
        kind = kinds[-1] if kinds else ""
        is_manual = "/man/" in str(path.parent) and len(kind) == 2
        if (kind in KINDS or is_manual) and path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST:
            yield path


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each file, in the same order."""
    for path in _in_order(folder):
        if text := _read(path):
            yield f"file:{path.relative_to(folder)}", text


def _in_order(folder: Path) -> list[Path]:
    return sorted(_paths(folder), key=lambda path: hashlib.sha256(str(path.relative_to(folder)).encode()).digest())


def _batched(paths: list[Path], size: int) -> Iterator[list[Path]]:
    """Some at a time (`itertools.batched` from Python 3.12 on)."""
    for at in range(0, len(paths), size):
        yield paths[at : at + size]


@cache
def _stage() -> FingerprintStage:
    return FingerprintStage(from_mapping({}).dedup)


def _read(path: Path) -> str:
    """Its text; empty where it is damaged or no document."""
    try:
        text = _text(path)
    except (OSError, EOFError, ValueError):
        return ""
    return text if len(text) >= LEAST else ""


def _made(path: Path, folder: Path) -> Made | None:
    if not (text := _read(path)):
        return None
    doc = Document(url="", text=text)
    _stage()(doc)
    return Made(doc.doc_id, doc.signature, doc.shingle_count, f"file:{path.relative_to(folder)}")


def _text(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    text = data.decode("utf-8", "replace").replace("\0", "")
    if path.suffix in {".html", ".htm", ".xhtml"}:
        tree = html.document_fromstring(data) if data.strip() else None
        if tree is None:
            return ""
        for element in tree.xpath("//script | //style"):
            element.drop_tree()
        return str(tree.text_content())
    if "/man/" in str(path.parent):
        return "\n".join(line for line in text.split("\n") if not line.startswith(('.\\"', "'\\\"")))
    return text
