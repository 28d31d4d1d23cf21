"""What the linear classifier is worth on sites it has not seen: AUC with intervals, calibration, many labels and 100.

    python -m bench.quality.eval_classifier [--data ../shared/data] [--cache FILE] [--perplexity]

Two questions on the labelled pages (`wcxb-dev.jsonl.zst`), sites parted into two halves, trained on one, asked of the
other. Easy: the blocks of a page that the labels mark as main text against its other blocks, both written by the
same code, white space normalised. Hard: the text that our extractor gives, prose against listings and collections.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from lxml import html

from bench.places import SHARED_DATA
from crawler.classify import kneser_ney
from crawler.classify.evaluate import Evaluation, evaluate
from crawler.classify.examples import Example, Examples
from crawler.classify.invariance import changed
from crawler.classify.measures import auc_interval
from crawler.classify.train import Trained, train, usable
from crawler.config import from_mapping
from crawler.document import Document
from crawler.problems import InputError
from crawler.stages.chain import Chain
from crawler.stages.text.words import count_words
from crawler.storage.files.shards import read_lines
from crawler.urls.canonicalize import registrable_domain

LEAST_WORDS = 50
DRAWS = 5
FEW = 100
PROSE, LISTS = {"article", "documentation", "forum", "service"}, {"listing", "collection"}
_NAMES = (
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol p pre section summary table tbody td "
    "tfoot th thead tr ul br button option select"
)
_BLOCKS = frozenset(_NAMES.split())
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})


def main() -> int:
    """Print a table for each question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED_DATA)
    parser.add_argument("--cache", type=Path, help="texts are written here, and read where it exists")
    parser.add_argument("--perplexity", action="store_true", help="n-gram models in place of the classifier")
    options = parser.parse_args()
    if not (options.data / "wcxb-dev.jsonl.zst").is_file():
        sys.exit(f"{options.data} has no wcxb-dev.jsonl.zst: give --data")
    found = list(cached(options.data, options.cache))
    print("| question | labels | sites | AUC, unseen sites | 95 % | calibration error | changed by layout | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for question in ("easy", "hard"):
        (_perplexity if options.perplexity else _ask)(
            question, [Example(**values) for name, values in found if name == question]
        )
    return 0


def _ask(question: str, every: list[Example]) -> None:
    known, unseen = ([one for one in every if half(one.site) == part] for part in (0, 1))
    _row(f"{question}, cross-validated", [*every], [])
    _row(question, known, unseen)
    few = []
    for draw in range(DRAWS):
        order = np.random.default_rng(draw).permutation(len(known))[:FEW]
        few.append(_row(f"{question}, draw {draw + 1}", [known[i] for i in order], unseen))
    values = [one for one in few if one is not None]
    if values:
        print(
            f"| {question}, mean of {len(values)} draws | {FEW} | | {np.mean(values):.4f} | sd {np.std(values):.4f} "
            "| | | |"
        )


def _perplexity(question: str, every: list[Example]) -> None:
    """English alone: a 3-gram model of good texts, and the ratio of it and one of bad texts."""
    known, unseen = ([one for one in every if half(one.site) == part and one.language == "en"] for part in (0, 1))
    started = time.process_time()
    good, bad = (kneser_ney.train([one.text for one in known if one.good == answer]) for answer in (1.0, 0.0))
    spent = time.process_time() - started
    goal, sites = np.array([one.good for one in unseen]), [one.site for one in unseen]
    said = [[model.score(one.text) for one in unseen] for model in (good, bad)]
    logs = [np.array([one.logp / max(one.units, 1) for one in some]) for some in said]
    for name, score in (("perplexity", logs[0]), ("good over bad", logs[0] - logs[1])):
        found = auc_interval(goal, score, np.ones(len(goal)), sites)
        print(
            f"| {question}, {name} | {len(known)} | | {found.value:.4f} | {found.low:.4f}–{found.high:.4f} "
            f"| | | {spent:.1f} |",
            flush=True,
        )


def _row(name: str, known: list[Example], unseen: list[Example]) -> float | None:
    started = time.process_time()
    try:
        made: Trained = train(usable(Examples(found=known), ""))
    except InputError as error:
        print(f"| {name} | {len(known)} | | {error.problems[0]} | | | | |")
        return None
    spent = time.process_time() - started
    if unseen:
        said: Evaluation = evaluate(made.weights, unseen, made.languages)
        interval, ece, layout = said.auc, said.ece, changed(made.weights, [one.text for one in unseen], 0.5)
    else:
        interval, ece, layout = made.auc, made.ece, {}
    shift = ", ".join(f"{what} {share:.4f}" for what, share in layout.items())
    print(
        f"| {name} | {len(made.examples)} | {made.groups} | {interval.value:.4f} "
        f"| {interval.low:.4f}–{interval.high:.4f} | {ece:.4f} | {shift} | {spent:.1f} |",
        flush=True,
    )
    return interval.value


def half(site: str) -> int:
    """0 or 1: the half of the sites that a site is of."""
    return hashlib.blake2b(site.encode()).digest()[0] & 1


def cached(data: Path, cache: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The texts of both questions, each with the name of its own."""
    if cache and cache.exists():
        yield from (tuple(orjson.loads(line)) for line in cache.read_bytes().splitlines())
        return
    made = []
    for question, values in _examples(data):
        made.append(orjson.dumps([question, values]))
        yield question, values
    if cache:
        cache.write_bytes(b"\n".join(made))


def _examples(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    chain = Chain(from_mapping({"WORKER_ID": "bench", "LANGUAGES": "", "PII_PERSON": "off"}))
    for line in read_lines(data / "wcxb-dev.jsonl.zst"):
        page = orjson.loads(line)
        url = page["url"] or f"https://{page['domain'] or page['id'] + '.invalid'}/"
        kind, body = page["page_type"], (page["html"] or "").encode("utf-8", "replace")
        about = {"url": url, "site": registrable_domain(url), "page_type": kind}
        doc = Document(url, canonical_url=url, html=body, charset="utf-8", content_type="text/html", http_status=200)
        doc = chain.run(doc, ("parse", "optout", "extraction", "language"))
        main, rest = blocks(body, page["main_content"] or "")
        if min(count_words(main), count_words(rest)) >= LEAST_WORDS and doc.language:
            for good, text in ((1.0, main), (0.0, rest)):
                yield "easy", about | {"text": text, "good": good, "language": doc.language}
        if kind in PROSE | LISTS and count_words(doc.text) >= LEAST_WORDS and doc.language:
            yield "hard", about | {"text": doc.text, "good": float(kind in PROSE), "language": doc.language}


def blocks(body: bytes, wanted: str) -> tuple[str, str]:
    """The blocks of a page that stand in its main text, and the others: a line each, white space normalised."""
    tree = html.fromstring(body or b"<p/>", parser=html.HTMLParser(encoding="utf-8"))
    lines = {_normal(line) for line in wanted.splitlines()}
    whole, main, rest = _normal(wanted), list[str](), list[str]()
    for block in _lines_of(tree):
        inside = block in lines or (len(block) >= 30 and block in whole)
        (main if inside else rest).append(block)
    return "\n".join(main), "\n".join(rest)


def _lines_of(tree: Any) -> Iterator[str]:
    parts: list[str] = []

    def flush() -> Iterator[str]:
        line = _normal("".join(parts))
        parts.clear()
        if line:
            yield line

    stack: list[tuple[Any, bool]] = [(tree, True)]
    while stack:
        node, enters = stack.pop()
        named = isinstance(node.tag, str)
        if named and node.tag in _BLOCKS:
            yield from flush()
        if enters:
            stack.append((node, False))
            if named and node.tag not in _SILENT:
                parts.append(node.text or "")
                stack += [(child, True) for child in reversed(node)]
        else:
            parts.append(node.tail or "")
    yield from flush()


def _normal(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


if __name__ == "__main__":
    sys.exit(main())
