"""`gristmill dataset captures --index INDEX --out FILE URL`: captures of a site, as a WARC to replay."""

from __future__ import annotations

import argparse
from pathlib import Path

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work

MOST_TOLD = 20
COMMON_CRAWL = "https://data.commoncrawl.org/"


def declare(parser: argparse.ArgumentParser) -> None:
    """The index, what to look up, where the archives are, the file to write."""
    parser.add_argument("url", metavar="URL", help="a page, or a domain: '*.example.org'")
    parser.add_argument(
        "--index", required=True, metavar="PLACE",
        help="a CDXJ server, such as https://index.commoncrawl.org/CC-MAIN-2026-10-index, or a file of its lines",
    )  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="new archive, ending in .warc.gz")
    parser.add_argument("--base", default=COMMON_CRAWL, help="URL or folder of the archives (default: %(default)s)")


def fetch_captures(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Ask, fetch, say how to go on. Raises: StorageError."""
    from crawler.dataset.captures import about, captures, save

    if not opts.out.name.endswith(".warc.gz"):
        return Answer(problems=[f"--out {opts.out}: expected a name that ends in .warc.gz"])
    done = save(captures(opts.index, opts.url), opts.base, opts.out, about(opts.index, opts.base, opts.url))
    problems = _most_of(done.problems)
    if not done.records:
        none = f"{opts.index}: has no capture of {opts.url} with status 200; nothing was written"
        return Answer(problems=problems or [none])
    facts = {"archive": str(opts.out), "captures": done.records, "bytes": done.bytes}
    line = f"{number_of(done.records, 'capture')}, {done.bytes:,} bytes: gristmill crawl replay -a archive={opts.out}"
    return Answer(facts, [line], problems)


def _most_of(problems: list[str]) -> list[str]:
    """Each sentence once, and not thousands of them: a wrong base is wrong for every capture."""
    told = list(dict.fromkeys(problems))[:MOST_TOLD]
    more = len(problems) - len(told)
    return [*told, f"and {more:,} more captures that could not be fetched"] if more else told


WORK = Work(
    "captures --index index.cdxj --base corpus/archive --out site.warc.gz '*.example.org'",
    declare,
    fetch_captures,
    {
        "archive": ("string", "the archive that was written"),
        "captures": ("integer", "records in it"),
        "bytes": ("integer", "their size"),
    },
)
