"""The comparisons of docs/experiment.md: `python -m bench.trial.compare NAME … [--held-out PLACE]`.

`--list` says what each compares, `--write` puts the rows into that page. Held-out are the texts that people marked on
pages of other domains (`marked`) and those given (`bench.trial.held_out` makes some). Sides are made once, in
`--folder`; needs `../shared/data`.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench.machine import commit, machine
from bench.places import PROJECT
from bench.quality.dedup_stream import EDITS
from bench.quality.eval_classifier import FEW, LEAST_WORDS, LISTS, PROSE, half
from bench.quality.good_and_junk import junk
from bench.trial.crawls import peer, peer_same, value
from bench.trial.pages import COPIES, read, sides, write
from bench.trial.separates import told
from crawler.classify.examples import Example, Examples
from crawler.classify.train import train, usable
from crawler.config import from_mapping
from crawler.document import Document, Drop
from crawler.stages.language.stage import LanguageStage
from crawler.stages.pii.stage import PiiStage
from crawler.stages.quality.stage import QualityStage
from crawler.stages.text.words import count_words
from crawler.trial.difference import EQUAL, Difference
from crawler.trial.samples import MODES
from crawler.trial.sides import Known
from crawler.trial.trial import SEEDS, SIZE, Trial, run
from crawler.urls.canonicalize import registrable_domain

Page = dict[str, Any]
Judge = Callable[[Document], Document | Drop]
RULES = ("gopher_repetition", "gopher_quality", "fineweb", "c4", "c4_paragraphs", "refinedweb_lines")
JUNK = ("navigation", "footers", "consent", "unmarked", "repeated")
MOST_JUNK = 60
"""Texts of each kind."""
SHORT, PIECE = 5_000, 1_500
"""Bytes."""
THRESHOLD = 0.5
PAGE = PROJECT / "docs" / "experiment.md"
BEGIN, END = "<!-- bench.trial.compare: begin -->", "<!-- bench.trial.compare: end -->"
HEAD = ("| comparison | side | texts | by equal size | by equal pages |", "|---|---|---|---|---|")


def kept(records: list[Page], stages: list[Judge]) -> Iterator[Page]:
    """What the stages keep of the records, with the text that they leave."""
    for record in records:
        doc = Document(record["url"], text=record["text"], title=record["title"] or "")
        if all(isinstance(stage(doc), Document) for stage in stages):
            yield record | {"text": doc.text}


def _kept(path: Path, stages: list[Judge]) -> list[Page]:
    return list(kept(read(path), stages))


def judges(stage: str, **settings: str) -> list[Judge]:
    """The language stage, and `quality` or `pii`, by these settings."""
    config = from_mapping(settings)
    last: Judge = QualityStage(config.quality) if stage == "quality" else PiiStage(config.pii)
    return [LanguageStage(config.language), last]


def _ours(folder: Path) -> list[Page]:
    return read(sides(folder, ["ours"])["ours"])


def _short(folder: Path) -> Path:
    """Texts of which a sample has many."""
    return _once(folder / "short.jsonl", lambda: [one for one in _ours(folder) if len(one["text"].encode()) <= SHORT])


def _once(path: Path, make: Callable[[], list[Page]]) -> Path:
    return path if path.exists() else write(path, make())


def _extraction(folder: Path) -> list[Path]:
    """our rules' text | trafilatura's, raw text, what people marked"""
    return [*sides(folder, ("ours", "trafilatura", "raw", "human")).values()]


def _learned(folder: Path) -> list[Path]:
    """our rules' text | the learned extractor's, trafilatura's: pages of which neither has learned"""
    return [*sides(folder, ("unseen-ours", "unseen-learned", "unseen-trafilatura")).values()]


def _copies(folder: Path) -> list[Path]:
    """every text once | with 25 % copies"""
    return [*sides(folder, ("ours", "copies")).values()]


def _near(folder: Path) -> list[Path]:
    """every text once | with 25 % edited copies, what the duplicate index leaves of these"""
    ours, rnd = _ours(folder), random.Random(1)
    pages, edits = [record for record in ours if len(record["text"]) > 500], list(EDITS.values())

    def edited() -> list[Page]:
        found = list(ours)
        for at, record in enumerate(rnd.sample(pages, round(len(ours) * COPIES / (1 - COPIES)))):
            other = rnd.choice(pages)["text"].split("\n")
            text = "\n".join(edits[at % len(edits)](record["text"].split("\n"), rnd, other))
            found.append(record | {"text": text, "url": f"https://mirror{at}.example/"})
        return found

    def found(records: list[Page]) -> list[Page]:
        owners = Known(from_mapping({}).dedup).add([(record["url"], record["text"]) for record in records])
        return [record for record, owner in zip(records, owners, strict=True) if owner is None]

    near = _once(folder / "near.jsonl", edited)
    return [folder / "ours.jsonl", near, _once(folder / "near-found.jsonl", lambda: found(read(near)))]


def _quality(folder: Path) -> list[Path]:
    """every extracted text | those that the quality stage keeps"""
    made = _once(folder / "quality.jsonl", lambda: list(kept(_ours(folder), judges("quality"))))
    return [folder / "ours.jsonl", made]


def _rules(folder: Path) -> list[Path]:
    """extracted texts, and what else stands on pages, as texts | what the stage keeps, what each rule set keeps"""

    def dirty() -> list[Page]:
        marked = read(sides(folder, ["marked"])["marked"])
        asked = {registrable_domain(f"http://{record['domain']}/") for record in marked if record["domain"]}
        found, left = read(_short(folder)), dict.fromkeys(JUNK, MOST_JUNK)
        for at, one in enumerate(junk(2 * MOST_JUNK)):
            if not any(left.values()) or one.kind not in left:
                break
            if left[one.kind] and one.site not in asked and len(one.text.encode()) <= SHORT:
                left[one.kind] -= 1
                url = f"https://{one.site}/{one.kind}/{at}"
                found.append({"url": url, "domain": one.site, "text": one.text, "title": ""})
        return found

    whole = _once(folder / "dirty.jsonl", dirty)
    made = [_once(folder / "dirty-kept.jsonl", partial(_kept, whole, judges("quality")))]
    for name in RULES:
        alone = judges("quality", QUALITY_RULES=name, QUALITY_MIN_SCORE="0")
        made.append(_once(folder / f"{name}.jsonl", partial(_kept, whole, alone)))
    return [whole, *made]


def _classifier(folder: Path) -> list[Path]:
    """extracted texts of half of the sites | those that a classifier of a hundred labels of the other half keeps"""
    known: tuple[list[Page], list[Page]] = ([], [])
    for record in read(_short(folder)):
        known[half(registrable_domain(record["url"]))].append(record)
    asked, labelled = known

    def chosen() -> list[Page]:
        stage, found = LanguageStage(from_mapping({}).language), []
        for record in labelled:
            doc = Document(record["url"], text=record["text"])
            stage(doc)
            kind = record["page_type"]
            if kind in PROSE | LISTS and doc.language == "en" and count_words(doc.text) >= LEAST_WORDS:
                site = registrable_domain(doc.url)
                found.append(Example(doc.url, doc.text, float(kind in PROSE), site, "en", kind))
        weights = train(usable(Examples(found=random.Random(1).sample(found, FEW)), "")).weights
        return [record for record in asked if record["text"] and weights.score(record["text"]) >= THRESHOLD]

    whole = _once(folder / "half.jsonl", lambda: asked)
    return [whole, _once(folder / "half-classified.jsonl", chosen)]


def _pii(folder: Path) -> list[Path]:
    """texts as they are | redacted, with names beside other data, with all names"""
    made = [_short(folder)]
    for person in ("contextual", "all"):
        stages = judges("pii", PII_PERSON=person)
        made.append(_once(folder / f"pii-{person}.jsonl", partial(_kept, made[0], stages)))
    return made


def _pools(folder: Path) -> tuple[list[str], list[str]]:
    """Pieces of real articles, and of real listings, in an order by hash: the sites have more pages than we have."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for record in _ours(folder):
        found[record["page_type"] in PROSE] += _pieces(record["text"])
    prose, lists = (sorted(some, key=lambda text: hashlib.sha256(text.encode()).digest()) for some in found.values())
    return prose, lists


def _pieces(text: str) -> Iterator[str]:
    """Whole lines, of `PIECE` bytes and a little more."""
    lines: list[str] = []
    for line in text.split("\n"):
        lines.append(line)
        if len("\n".join(lines).encode()) >= PIECE:
            yield "\n".join(lines)
            lines = []


def _value(folder: Path) -> list[Path]:
    """breadth first's first half of the requests, all pages | the value frontier's"""
    return value(folder, *_pools(folder))["fetched"]


def _value_kept(folder: Path) -> list[Path]:
    """breadth first's first half of the requests, texts worth keeping, once | the value frontier's"""
    return value(folder, *_pools(folder))["kept"]


MADE: dict[str, Callable[[Path], list[Path]]] = {
    "extraction": _extraction, "learned": _learned, "quality": _quality, "rules": _rules, "copies": _copies,
    "near": _near, "classifier": _classifier, "pii": _pii, "value": _value, "value-kept": _value_kept, "peer": peer,
    "peer-same": peer_same,
}  # fmt: skip
"""Each makes its sides, the one first that the others are compared with; its docstring says what they are."""


def rows(name: str, found: Trial, seconds: float, made: float) -> list[str]:
    """Lines of the table: the side that the others are compared with, then the others."""
    first, *others = found.sides
    size = max(max(one.sizes) for one in found.figures if one.by == MODES[0])
    kinds = ", ".join(f"{kind.name} ({len(kind.asked)})" for kind in found.kinds)
    said = f"{found.seeds} seeds of {size / 1000:.0f} kB at most, {seconds:.0f} s + {made:.0f} s; asked: {kinds}"
    lines = [f"| {name} | {_stem(first.name)} | {first.texts:,} | {said} | |"]
    for side in others:
        by = {one.by: _interval(one.found) for one in found.overall if one.side == side.name}
        lines.append(f"| {name} | {_stem(side.name)} | {side.texts:,} | {by[MODES[0]]} | {by[MODES[1]]} |")
    return lines


def _stem(name: str) -> str:
    return Path(name).stem.removeprefix("unseen-")


def _interval(found: Difference) -> str:
    value = f"{found.value:+.3f}" if found.verdict == EQUAL else f"**{found.value:+.3f}**"
    return f"{value} [{found.low:+.3f}, {found.high:+.3f}]".replace("0.", ".").replace("-", "−")


def put(page: str, name: str, lines: list[str]) -> str:
    """The page with these rows in the place of those that the table has of this comparison."""
    head, begin, rest = page.partition(BEGIN)
    table, end, tail = rest.partition(END)
    there = [line for line in table.strip().split("\n")[2:] if line]
    names = list(MADE)
    others = [line for line in there if line.split("|")[1].strip() != name]
    every = sorted([*others, *lines], key=lambda line: names.index(line.split("|")[1].strip()))
    return "".join([head, begin, "\n", "\n".join([*HEAD, *every]), "\n", end, tail])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*MADE, []], metavar="NAME", help="of --list; all")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--held-out", action="append", default=[])
    parser.add_argument("--folder", type=Path, default=Path("bench/.cache/trial"))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--size", type=int, default=SIZE)
    options = parser.parse_args()
    if options.list:
        print(*(f"{name}: {make.__doc__}" for name, make in MADE.items()), sep="\n")
        return 0
    held_out = [str(sides(options.folder, ["marked"])["marked"]), *options.held_out]
    print(machine(), commit(), sep="; ")
    for name in options.names or MADE:
        begin = time.process_time()
        paths = MADE[name](options.folder)
        made = time.process_time()
        found = run(list(map(str, paths)), held_out, from_mapping({}), seeds=options.seeds, size=options.size)
        print(f"{name}: beside {paths[0].stem}, {time.process_time() - made:.0f} CPU seconds ({made - begin:.0f} to "
              f"make the sides); seeds {options.seeds}, {'same' if found.same_pages else 'other'} pages")  # fmt: skip
        print(*(f"  {side.name}: {side.texts:,} texts, {side.size:,} bytes" for side in found.sides), sep="\n")
        print(
            *(f"  asked, {kind.name}: {len(kind.asked)} texts, {kind.size:,} bytes" for kind in found.kinds), sep="\n"
        )
        print(*map(told, found.compared), sep="\n", flush=True)
        print(*(f"  weak: {one}" for one in found.weak), sep="\n", flush=True)
        if options.write:
            lines = rows(name, found, time.process_time() - made, made - begin)
            PAGE.write_text(put(PAGE.read_text("utf-8"), name, lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
