"""Both ways of computing, Python's and C's, of the same pages: what differs, and what each costs.

    python -m bench.native.equal --pages ../shared/data [--most 4000] [--mutated 1]

`--pages` names folders: every page in their `*.jsonl.zst` (the field `html`) and `*.html` is run through parse, opt-out
and extraction twice, the first way taking turns, and everything that they leave on the document is compared.
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
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import zstandard

from crawler import native
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain
from tests.native.native_support import mutated

WAYS = ("off", "required")
STAGES = ("parse", "optout", "extraction")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path, nargs="+", required=True, metavar="DIR")
    parser.add_argument("--most", type=int, help="pages at most")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th page")
    parser.add_argument("--mutated", type=int, default=0, help="pages made of each")
    options = parser.parse_args()
    chain = Chain(from_mapping({}), STAGES)
    spent = {(way, stage): 0.0 for way in WAYS for stage in STAGES}
    many = kept = differ = 0
    for name, html in islice(pages(options.pages, options.mutated, options.every), options.most):
        found: dict[str, dict[str, Any]] = {}
        for way in WAYS if many % 2 else WAYS[::-1]:
            native.use(way)
            doc = chain.run(Document(url="https://example.org/", html=html, content_type="text/html"), STAGES)
            for stage, seconds in doc.timings.items():
                spent[way, stage] += seconds
            found[way] = comparable(doc)
        many, kept = many + 1, kept + bool(found["off"]["text"])
        if fields := [key for key, value in found["off"].items() if found["required"][key] != value]:
            differ += 1
            print(f"{name}: {', '.join(fields)} differ", flush=True)
        if many % 500 == 0:
            print(f"{many} pages, {differ} differ", flush=True)
    print(f"{many} pages, {kept} with a text, {differ} differ ({native.state()})")
    for stage in STAGES if many else ():
        python, c = (spent[way, stage] / many * 1e3 for way in WAYS)
        print(f"{stage:12} Python {python:6.2f} ms a page, C {c:6.2f}")
    return 1 if differ or not many else 0


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
