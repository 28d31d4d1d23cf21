"""Sides for a trial, made of the labelled pages: the same pages as different programs, or bad habits, leave them.

`sides(folder)` writes one file of records a side into `folder`, once; it needs `wcxb-dev.jsonl.zst` of `../shared/data`
(docs/trial.md). Pages of a fifth of the domains are held out: their text as people marked it is the kind `marked`.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from lxml import html as lxml_html

from bench.places import SHARED_DATA
from bench.quality.eval_text import ours, theirs
from crawler.storage.files.shards import read_lines

DATA = SHARED_DATA / "wcxb-dev.jsonl.zst"
HELD_OUT = 5
"""One domain in so many is held out."""
MARKED = ("article", "documentation")
"""Types of the held-out pages whose text is prose."""
COPIES, NAVIGATION = 0.25, 0.2
"""Shares of a side's texts, and of its bytes."""
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "option",
        "p",
        "pre",
        "section",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    ]
)
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


def sides(folder: Path) -> dict[str, Path]:
    """File of records by name of the side, `marked` among them; those that are there already stay."""
    names = (*EXTRACTED, "human", "copies", "navigation", "marked")
    files = {name: folder / f"{name}.jsonl" for name in names}
    if all(file.exists() for file in files.values()):
        return files
    folder.mkdir(parents=True, exist_ok=True)
    extract = {name: make() for name, make in EXTRACTED.items()}
    found: dict[str, list[Page]] = {name: [] for name in names}
    for page in map(orjson.loads, read_lines(DATA, str(DATA))):
        if is_held_out(page["domain"]):
            if page["page_type"] in MARKED:
                found["marked"].append(_record(page, page["main_content"]))
            continue
        found["human"].append(_record(page, page["main_content"]))
        for name, run in extract.items():
            found[name].append(_record(page, run(page["url"], page["html"].encode())))
    found["copies"] = list(with_copies(found["ours"]))
    found["navigation"] = list(with_navigation(found["ours"], found["raw"]))
    for name, records in found.items():
        write(files[name], records)
    return files


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
    return {"url": page["url"], "domain": page["domain"], "text": text, "title": page["title"]}
