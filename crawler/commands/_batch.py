"""`scrapy dataset substrings` and `scrapy dataset contaminated`: arguments in, a report on standard output."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from crawler.commands._operation import Load, Operation
from crawler.config import Config
from crawler.dataset.rewrite import Rewritten, corpus_place
from crawler.storage.files.place import Place

if TYPE_CHECKING:  # imported where they run: Scrapy loads every command before each crawl, and these cost it 0.3 s
    from crawler.dataset import contaminated as contamination
    from crawler.dataset.substrings import Findings, Found

SYNTAX = {
    "substrings": "substrings [--min-tokens N] [--memory SIZE] [--remove] [--json] CORPUS_DIR",
    "contaminated": "contaminated [--eval PATH …] [--remove] [--json] CORPUS_DIR",
}
HITS_SHOWN = 20
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the batch jobs understand."""
    parser.add_argument("--min-tokens", type=int, default=50, metavar="N", help="substrings: words of a passage (50)")
    parser.add_argument("--memory", type=size, default="4G", help="substrings: what one block may take (4G)")
    parser.add_argument("--eval", action="append", default=[], metavar="PATH", help="contaminated: like EVAL_SETS")
    parser.add_argument("--remove", action="store_true", help="substrings, contaminated: write a new version without")
    parser.add_argument("--drop-old", action="store_true", help="with --remove: do not keep the replaced files")
    parser.add_argument("--json", action="store_true", help="substrings, contaminated, diff: the report as JSON")


def size(text: str) -> int:
    """Bytes of "500M" or "4G" (powers of 1,024). Raises: ArgumentTypeError."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"expected a size such as 500M or 4G, not {text!r}")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def _substrings(paths: list[str], opts: argparse.Namespace, load: Load) -> list[str]:
    least = load().extraction.min_words
    with corpus_place(paths[0]) as place:
        return _report_substrings(place, opts, least)


def _report_substrings(place: Place, opts: argparse.Namespace, least: int) -> list[str]:
    from crawler.dataset import substrings

    found = substrings.find(place, min_tokens=opts.min_tokens, memory=opts.memory)
    done = None
    if opts.remove:
        done = substrings.remove(place, found, min_words=least, now=time.time(), keep_old=not opts.drop_old)
    _show(found.as_dict(), done, substring_lines(found), as_json=opts.json)
    return []


def _contaminated(paths: list[str], opts: argparse.Namespace, load: Load) -> list[str]:
    config = load(**({"EVAL_SETS": opts.eval} if opts.eval else {}))
    if not config.decontamination.eval_sets:
        return ["no evaluation sets: give --eval PATH, once for each, or set EVAL_SETS"]
    with corpus_place(paths[0]) as place:
        return _report_contamination(place, opts, config)


def _report_contamination(place: Place, opts: argparse.Namespace, config: Config) -> list[str]:
    from crawler.dataset import contaminated as contamination

    done = None
    if opts.remove:
        found, done = contamination.remove(place, config, now=time.time(), keep_old=not opts.drop_old)
    else:
        found = contamination.find(place, config)
    _show(found.as_dict(), done, _contamination_lines(found), as_json=opts.json)
    return []


OPERATIONS = {
    "substrings": Operation(SYNTAX["substrings"], _substrings),
    "contaminated": Operation(SYNTAX["contaminated"], _contaminated),
}


def _show(report: dict[str, Any], done: Rewritten | None, lines: Iterator[str], *, as_json: bool) -> None:
    removed = None if done is None else {name: getattr(done, name) for name in Rewritten.__slots__}
    if as_json:
        sys.stdout.write(orjson.dumps(report | {"rewritten": removed}, option=orjson.OPT_INDENT_2).decode() + "\n")
        return
    sys.stdout.writelines(line + "\n" for line in lines)
    if done is not None:
        sys.stdout.write(
            f"version {done.version}: {done.changed:,} documents changed, {done.rejected:,} rejected, "
            f"{done.files:,} new files\n"
        )


def substring_lines(found: Findings) -> Iterator[str]:
    """The report for people, line by line."""
    words = max(1, found.words)
    yield f"{found.documents:,} documents, {found.words:,} words; passages of {found.min_tokens} words or more:"
    yield f"  {found.passages:,} passages stand more than once"
    yield f"  {found.repeated:,} words ({found.repeated / words:.1%}) are part of one"
    yield f"  {found.surplus:,} words ({found.surplus / words:.1%}) in {found.touched:,} documents stood before"
    if found.blocks > 1:
        yield f"  searched in {found.blocks} blocks: what is repeated only across two is not found; raise --memory"
    for title, passages in (
        ("Most words to save", found.widest),
        ("Longest", found.longest),
        ("Most frequent", found.most_frequent),
    ):
        if passages:
            yield f"\n{title}"
            yield from (line for passage in passages for line in _passage_lines(passage))


def _passage_lines(found: Found) -> Iterator[str]:
    domains = ", ".join(f"{name} {count:,}" for name, count in found.domains.items())
    yield f"  {found.times:,} × {found.words:,} words in {found.documents:,} documents ({domains})"
    yield f"    first in {found.first_url}"
    yield f"    {found.example[:200]} …"


def _contamination_lines(found: contamination.Contamination) -> Iterator[str]:
    from crawler.dataset.contaminated import MAX_LISTED

    yield f"{found.contaminated:,} of {found.documents:,} documents repeat an evaluation set"
    yield from (f"  {name}: {count:,}" for name, count in found.sets.most_common())
    for hit in found.listed[:HITS_SHOWN]:
        yield f"  {hit.url}\n    {hit.overlap}"
    if found.contaminated > HITS_SHOWN:
        yield f"  … and {found.contaminated - HITS_SHOWN:,} more (--json lists up to {MAX_LISTED:,})"
