"""Texts of real pages as JSON lines, for the batch benches: `python -m bench.web.texts FOLDER OUT [--pages N]`.

Reads HTML files below FOLDER in a fixed pseudo-random order through the parse and extraction stages (EXTRACTOR=
resiliparse: a tenth of the time) and writes records with url, canonical_url, domain (the first folder) and text.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import orjson

from bench.web.pages import SEED, html_files, page_of
from crawler.config import from_mapping
from crawler.stages.chain import Chain

STAGES = ("parse", "extraction")


def files(folder: Path, pages: int, seed: int = SEED) -> list[Path]:
    """So many HTML files in the order of the seed, those with a language behind their name included."""
    return html_files(folder, seed=seed, pattern="*.html*")[:pages]


def texts(folder: Path, paths: list[Path]) -> Iterator[dict[str, str]]:
    """Records of the files that have text, in their order."""
    chain = Chain(from_mapping({"EXTRACTOR": "resiliparse", "EXTRACTION_MIN_WORDS": 20}), STAGES)
    for path in paths:
        doc = page_of(folder, path)
        doc.text_allowed = True
        doc = chain.run(doc, STAGES)
        if doc.text and doc.verdict is None:
            yield {
                "url": doc.url,
                "canonical_url": doc.url,
                "domain": path.relative_to(folder).parts[0],
                "text": doc.text,
            }


def block(job: tuple[Path, list[Path]]) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in texts(*job))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pages", type=int, default=1_000_000)
    options = parser.parse_args()
    paths = files(options.folder, options.pages)
    jobs = [(options.folder, paths[start : start + 200]) for start in range(0, len(paths), 200)]
    with options.out.open("wb") as out, ProcessPoolExecutor(2) as pool:
        for lines in pool.map(block, jobs):
            out.write(lines)
    print(f"{len(paths)} pages, {options.out.stat().st_size / 1e6:.1f} MB of records")


if __name__ == "__main__":
    main()
