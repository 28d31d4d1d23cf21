"""What the stages do with good files and with junk, by the kind of document: lost, let through, and by which rule.

    python -m bench.quality.kind_files FOLDER PACKAGES          # makes the files
    python -m bench.quality.by_kind FOLDER [--half first|second] [--most N] [--reasons] [--out FILE]

Each file goes through the chain up to the verdict on quality, once by the rules of its kind and once by those of web
pages. Halves: by what a file was made of, so that no text is in both; limits were chosen by the first.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.quality.kind_files import TYPES, Made, kept
from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.chain import Chain
from crawler.stages.tiers import copy_of

HALVES = ("first", "second")
_READ = ("parse", "optout", "extraction", "language")


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a file. own, web: the reason by the rules of its kind, and by those of pages; "" = kept."""

    made: Made
    own: str
    web: str
    detail: str
    text: str


def half_of(source: str) -> str:
    """The half that a text belongs to, in whatever kind it is written."""
    return HALVES[zlib.crc32(source.encode()) & 1]


def judged(folder: Path, half: str | None, most: int) -> Iterator[Judged]:
    """The first `most` files of each kind and sort, of a half (None: of both)."""
    chain, counts = Chain(from_mapping({"STAGE_TIMEOUT_SECONDS": 30}), (*_READ, "quality")), Counter[tuple[str, str]]()
    for made in kept(folder):
        if half not in (None, half_of(made.source)):
            continue
        counts[made.kind, made.what] += 1
        if counts[made.kind, made.what] > most:
            continue
        own = chain.run(_begun(folder, made), _READ)
        web = copy_of(own, document_kind="html")
        for doc in (own, web):
            chain.run(doc, ("quality",))
        said = next((doc.verdict.detail for doc in (own, web) if doc.verdict is not None), "")
        yield Judged(made, _reason(own), _reason(web), said, own.text)


def _begun(folder: Path, made: Made) -> Document:
    url = f"https://{made.kind}.example/file"
    doc = Document(url, html=(folder / made.file).read_bytes(), content_type=TYPES[made.kind])
    doc.crawled_at = "2026-11-28T00:00:00Z"
    return doc


def _reason(doc: Document) -> str:
    return doc.verdict.reason.value if doc.verdict else ""


def table(found: list[Judged], *, reasons: bool) -> Iterator[str]:
    """A row for each kind: number and lost of the good ones, number and kept of junk; rules of pages, then its own."""
    yield "| kind | good | lost: pages' rules | lost: own | junk | kept: pages' rules | kept: own |"
    yield "|---|---|---|---|---|---|---|"
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in found:
        groups[one.made.kind].append(one)
    for kind in (*(kind for kind in TYPES if kind in groups), "all"):
        some = found if kind == "all" else groups[kind]
        good, bad = [one for one in some if one.made.good], [one for one in some if not one.made.good]
        lost = [sum(bool(each) for each in column) for column in ([g.web for g in good], [g.own for g in good])]
        through = [sum(not each for each in column) for column in ([b.web for b in bad], [b.own for b in bad])]
        yield f"| {kind} | {len(good)} | {lost[0]} | {lost[1]} | {len(bad)} | {through[0]} | {through[1]} |"
        if reasons:
            yield f"    lost {Counter(g.own for g in good if g.own).most_common(9)}"
            yield f"    kept {Counter(b.made.what for b in bad if not b.own).most_common(9)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--most", type=int, default=1_000, help="files of each kind and sort")
    parser.add_argument("--reasons", action="store_true", help="by which rule, and what junk")
    parser.add_argument("--out", type=Path, help="JSON lines: each file with its verdicts and its text")
    options = parser.parse_args()
    found = list(judged(options.folder, options.half, options.most))
    if options.out is not None:
        options.out.write_text("".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in found), "utf-8")
    print("\n".join(table(found, reasons=options.reasons)))


if __name__ == "__main__":
    main()
