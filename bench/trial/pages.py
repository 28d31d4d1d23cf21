"""Sides for a trial, made of the labelled pages: the same pages as different programs, or bad habits, leave them.

`sides(folder, names)` writes one file of records a side into `folder`, once; it needs `wcxb-dev.jsonl.zst` and
`pages-dev` of `../shared/data`. Pages of a fifth of the domains are held out: their text as people marked it is the
kind `marked`.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from lxml import html as lxml_html

from bench.places import SHARED_DATA
from bench.quality.eval_text import ours, theirs
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.language.stage import LanguageStage
from crawler.storage.files.shards import read_lines
from crawler.urls.canonicalize import registrable_domain

DATA = SHARED_DATA / "wcxb-dev.jsonl.zst"
UNSEEN = ("news", "forums", "dates", "blogs-2012")
MOST_UNSEEN = 150
"""Of a source."""
HELD_OUT = 5
"""One domain in so many is held out."""
MARKED = ("article", "documentation")
"""Types of the held-out pages whose text is prose."""
COPIES, NAVIGATION = 0.25, 0.2
"""Shares of a side's texts, and of its bytes."""
_NAMES = (
    "address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header "
    "hr li main nav ol option p pre section table td th tr ul"
)
_BLOCKS = frozenset(_NAMES.split())
_UNSEEN = ("script", "style", "noscript", "template", "svg")
Page = dict[str, Any]


def is_held_out(domain: str) -> bool:
    """By a hash of the domain."""
    return int.from_bytes(hashlib.sha256(domain.encode()).digest()[:4]) % HELD_OUT == 0


def raw(_: str, body: bytes) -> str:
    """All text of a page that is not script or style, block by block."""
    tree = lxml_html.document_fromstring(body, parser=lxml_html.HTMLParser(encoding="utf-8"))
    for element in list(tree.iter(*_UNSEEN)):
        element.drop_tree()
    for element in tree.iter():
        if element.tag in _BLOCKS:
            element.text, element.tail = f"\n{element.text or ''}", f"\n{element.tail or ''}"
    body_of = tree.find("body")
    text = (tree if body_of is None else body_of).text_content()
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))


EXTRACTED: Mapping[str, Callable[[], Callable[[str, bytes], str]]] = {
    "ours": lambda: ours("trafilatura"),
    "learned": lambda: ours("learned"),
    "trafilatura": theirs,
    "raw": lambda: raw,
}


def sides(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """File of records by name of the side: one of EXTRACTED, `human`, `marked`, `copies`, `half-copies`, `navigation`,
    of pages that the learned extractor has learned from, or `unseen-…` with one of EXTRACTED. Those there already stay.
    """
    files = {name: folder / f"{name}.jsonl" for name in names}
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in files.items():
        if not file.exists():
            write(file, list(_made(folder, name)))
    return files


def _made(folder: Path, name: str) -> Iterator[Page]:
    if name == "half-copies":
        yield from with_copies(read(sides(folder, ["ours"])["ours"]), 0.5)
    elif name in ("copies", "navigation"):
        ours, raws = (read(path) for path in sides(folder, ("ours", "raw")).values())
        yield from with_copies(ours) if name == "copies" else with_navigation(ours, raws)
    elif name == "marked":
        found = (page for page in _labelled() if is_held_out(page["domain"]) and page["page_type"] in MARKED)
        yield from (_record(page, page["main_content"]) for page in found)
    elif name == "human":
        yield from (_record(page, page["main_content"]) for page in _labelled() if not is_held_out(page["domain"]))
    elif name.startswith("unseen-"):
        run = EXTRACTED[name.removeprefix("unseen-")]()
        yield from (_record(page, run(page["url"], page["html"].encode("utf-8", "replace"))) for page in unseen())
    else:
        run, pages = EXTRACTED[name](), (page for page in _labelled() if not is_held_out(page["domain"]))
        yield from (_record(page, run(page["url"], page["html"].encode())) for page in pages)


def _labelled() -> Iterator[Page]:
    return map(orjson.loads, read_lines(DATA, str(DATA)))


def unseen() -> Iterator[Page]:
    """Pages in English that no model of ours has learned from: news, forum threads, dated pages, blogs."""
    stage = LanguageStage(from_mapping({}).language)
    for name in UNSEEN:
        path = SHARED_DATA / "pages-dev" / f"{name}.jsonl.zst"
        for page in islice(map(orjson.loads, read_lines(path, str(path))), MOST_UNSEEN):
            url = page.get("url") or f"https://{name}-{page.get('id')}.example/"
            body = page["html"].encode("utf-8", "replace")
            if not body.strip():
                continue
            doc = Document(url, text=raw(url, body))
            stage(doc)
            if doc.language == "en":
                domain = registrable_domain(url)
                yield {"url": url, "domain": domain, "html": page["html"], "title": page.get("title") or ""}


def write(path: Path, records: list[Page]) -> Path:
    """One JSON object a line."""
    part = path.with_suffix(".part")
    part.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return part.rename(path)


def read(path: Path) -> list[Page]:
    """Its records."""
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def with_copies(records: list[Page], share: float = COPIES) -> Iterator[Page]:
    """Every text, and copies of some under URLs of their own: `share` of all texts."""
    yield from records
    some = random.Random(1).sample(records, round(len(records) * share / (1 - share)))
    for record in some:
        yield record | {"url": record["url"] + ("&" if "?" in record["url"] else "?") + "copy=1"}


def with_navigation(records: list[Page], raws: list[Page], share: float = NAVIGATION) -> Iterator[Page]:
    """Every text behind lines of its own page that are not in it: `share` of the bytes, or all there are."""
    for record, whole in zip(records, raws, strict=True):
        own = set(record["text"].split("\n"))
        wanted, lines = len(record["text"].encode()) * share / (1 - share), []
        for line in whole["text"].split("\n"):
            if wanted <= 0:
                break
            if line not in own:
                lines.append(line)
                wanted -= len(line.encode()) + 1
        yield record | {"text": "\n".join([*lines, record["text"]])}


def _record(page: Page, text: str) -> Page:
    said = {name: page.get(name) for name in ("domain", "title", "page_type")}
    return {"url": page["url"] or f"https://{page['id']}.invalid/", **said, "text": text}
