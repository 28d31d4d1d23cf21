"""What the personal-data stage redacts on technical documentation.

`python -m bench.quality.pii_docs [FOLDER] [--pages 1000]`

Takes pages below FOLDER (REALWEB_CACHE or ../realdocs) in a fixed pseudo-random order, extracts their text as
`bench.web.texts` does, and lists every redaction: type, the shape of the value, what stands around it, how often.
`bench/data/pii/docs_false.txt` holds the digests of those that a person read and called wrong; the share of pages
with one of them is the figure.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
from collections import Counter, defaultdict
from pathlib import Path

from bench.places import PROJECT
from bench.quality.pii_set import FOLDER as DATA
from bench.web.texts import files
from bench.web.texts import texts as records_of
from crawler.config import from_mapping
from crawler.stages.pii.stage import PiiStage

DEFAULT = Path(os.environ.get("REALWEB_CACHE", PROJECT.parent / "realdocs"))


def digest(entity: str, value: str) -> str:
    """Twelve hexadecimal digits that stand for a value nobody should have to store."""
    return hashlib.sha256(f"{entity}:{value.lower()}".encode()).hexdigest()[:12]


def shape(value: str) -> str:
    """The value with its letters as x and its digits as 0: what it looks like, not what it says."""
    return re.sub(r"\d", "0", re.sub(r"[^\W\d_]", "x", value))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--raw", action="store_true", help="show the values themselves, for the review")
    options = parser.parse_args()
    wrong = {line.split()[0] for line in (DATA / "docs_false.txt").read_text("utf-8").splitlines() if line[:1] != "#"}
    stage = PiiStage(from_mapping({"PII_PERSON": "off"}).pii)
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    types: Counter[str] = Counter()
    pages = redacted = false_hits = false_pages = 0
    for record in records_of(options.folder, files(options.folder, 3 * options.pages, options.seed)):
        text, pages = record["text"], pages + 1
        hits = stage.hits(text, "en")
        bad = 0
        for hit in hits:
            value = text[hit.start : hit.end]
            types[hit.entity] += 1
            bad += digest(hit.entity, value) in wrong
            around = f"{text[max(0, hit.start - 40) : hit.start]}<{value if options.raw else shape(value)}>"
            found[hit.entity, value].append(around + text[hit.end : hit.end + 20])
        redacted, false_hits, false_pages = redacted + bool(hits), false_hits + bad, false_pages + bool(bad)
        if pages == options.pages:
            break
    for (entity, value), places in sorted(found.items(), key=lambda item: (item[0][0], -len(item[1]))):
        key = digest(entity, value)
        print(f"{'FALSE' if key in wrong else 'right'} {key} {entity:16} {len(places):4} x  {places[0]!r}")
    print(f"{pages} pages, {redacted} with a redaction; redactions by type {dict(types)}")
    print(f"false: {false_hits} redactions on {false_pages} pages, {100 * false_pages / pages:.2f} per 100 pages")


if __name__ == "__main__":
    main()
