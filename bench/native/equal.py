"""Both ways of computing, Python's and C's, of the same pages: what differs, and what each costs.

    python -m bench.native.equal --pages ../shared/data [--most 4000] [--mutated 1]
    python -m bench.native.equal --pages ../shared/data --parts

`--pages` names folders: every page in their `*.jsonl.zst` (the field `html`) and `*.html` is run through parse,
opt-out, extraction and fingerprint twice, the first way taking turns, and everything that they leave on the document
is compared. With `--parts` it is each part's own answer, which costs a fifth: the lists of the walk, the bits of the
features, the log odds of net, trees and page types, the fingerprint of all blocks.
`--mutated N` adds N pages of pieces of each that were moved, doubled and cut.
CPU milliseconds are of the same process; exit code 1 where a page differs.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import zstandard

from crawler import native
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain
from crawler.stages.extraction.learned.alike import groups
from crawler.stages.extraction.learned.model import the_model
from crawler.stages.extraction.learned.numbers import features, page_numbers
from crawler.stages.extraction.learned.walk import walk
from crawler.stages.fingerprint import FingerprintStage
from crawler.stages.parse.stage import parse_html
from crawler.stages.text.charset import decode
from tests.native.native_support import PROBE, mutated

WAYS = ("off", "required")
STAGES = ("parse", "optout", "extraction", "fingerprint")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path, nargs="+", required=True, metavar="DIR")
    parser.add_argument("--most", type=int, help="pages at most")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th page")
    parser.add_argument("--mutated", type=int, default=0, help="pages made of each")
    parser.add_argument("--parts", action="store_true", help="compare what each part answers")
    options = parser.parse_args()
    compute: Compute = Parts() if options.parts else Stages()
    spent: Counter[tuple[str, str]] = Counter()
    many = kept = differ = 0
    for way in WAYS * 2:  # what is only loaded and learned once belongs to neither
        native.use(way)
        compute(PROBE.encode())
    for name, html in islice(pages(options.pages, options.mutated, options.every), options.most):
        found: dict[str, dict[str, Any]] = {}
        for way in WAYS if many % 2 else WAYS[::-1]:
            native.use(way)
            found[way], seconds = compute(html)
            for part, value in seconds.items():
                spent[way, part] += value  # type: ignore[assignment]
        many, kept = many + 1, kept + bool(found["off"].get("text"))
        if fields := [key for key, value in found["off"].items() if found["required"].get(key) != value]:
            differ += 1
            print(f"{name}: {', '.join(fields)} differ", flush=True)
        if many % 500 == 0:
            print(f"{many} pages, {differ} differ", flush=True)
    print(f"{many} pages, {kept} with a text, {differ} differ ({native.state()})")
    for part in dict.fromkeys(part for _, part in spent):
        python, c = (spent[way, part] / many * 1e3 for way in WAYS)
        print(f"{part:12} Python {python:6.2f} ms a page, C {c:6.2f}")
    return 1 if differ or not many else 0


Compute = Callable[[bytes], tuple[dict[str, Any], dict[str, float]]]
"""What is found of a page, by name, and CPU seconds by part."""


class Stages:
    """Whole stages: what they leave on the document."""

    def __init__(self) -> None:
        self._chain = Chain(from_mapping({}), STAGES)

    def __call__(self, html: bytes) -> tuple[dict[str, Any], dict[str, float]]:
        doc = self._chain.run(Document(url="https://example.org/", html=html, content_type="text/html"), STAGES)
        return comparable(doc), doc.timings


class Parts:
    """Each part that is there in C: its own answer, on the tree as it was parsed."""

    def __init__(self) -> None:
        self._model, self._fingerprint = the_model(), FingerprintStage(from_mapping({}).dedup)

    def __call__(self, html: bytes) -> tuple[dict[str, Any], dict[str, float]]:
        decoded = decode(html, None)
        tree = parse_html(decoded[0]) if decoded else None
        if tree is None or isinstance(tree, str):
            return {}, {}
        times = [time.process_time()]
        page = walk(tree)
        times.append(time.process_time())
        found = {field.name: getattr(page, field.name) for field in dataclasses.fields(page) if field.compare}
        found["text"] = "\n".join(page.texts)
        if not page.texts:
            return found, {"walk": times[1] - times[0]}
        rows, numbers = features(page, self._model.scores, tree.findtext(".//title") or "")
        times.append(time.process_time())
        odds = self._model.blocks.net(rows, numbers.words, groups(page)), self._model.blocks.trees(rows)
        kinds = self._model.kinds(page_numbers(rows)[None])
        times.append(time.process_time())
        doc = Document(url="https://example.org/", text=found["text"])
        self._fingerprint(doc)
        times.append(time.process_time())
        found |= {"features": rows.tobytes(), "known": numbers.known, "signature": (doc.signature, doc.shingle_count)}
        found |= {"odds": [one.tolist() for one in odds], "kinds": kinds.tolist()}
        parts = ("walk", "features", "models", "fingerprint")
        return found, {part: times[i + 1] - times[i] for i, part in enumerate(parts)}


def comparable(doc: Document) -> dict[str, Any]:
    """All that the stages left on a document, but how long they took."""
    return {field.name: repr(getattr(doc, field.name)) if field.name != "text" else doc.text
            for field in dataclasses.fields(doc) if field.name != "timings"}  # fmt: skip


def pages(folders: list[Path], copies: int, every: int) -> Iterator[tuple[str, bytes]]:
    number = 0
    for folder in folders:
        for path in sorted([*folder.rglob("*.jsonl.zst"), *folder.rglob("*.html")]):
            for place, html in enumerate(_in_file(path)):
                if place % every:
                    continue
                yield f"{path.name} {place}", html
                for _ in range(copies):
                    number += 1
                    text = mutated(html.decode("utf-8", "replace"), number, changes=20)
                    yield f"{path.name} {place} mutated {number}", text.encode("utf-8", "replace")


def _in_file(path: Path) -> Iterator[bytes]:
    if path.suffix == ".html":
        yield path.read_bytes()
        return
    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        for line in io.TextIOWrapper(reader, encoding="utf-8", newline="\n"):
            yield json.loads(line)["html"].encode("utf-8", "surrogatepass")


if __name__ == "__main__":
    start = time.monotonic()
    code = main()
    print(f"{time.monotonic() - start:.0f} s")
    sys.exit(code)
