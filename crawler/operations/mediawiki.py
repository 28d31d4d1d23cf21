"""`gristmill dataset mediawiki DUMP --out FILE`: the pages of a wiki's dump, as a WARC to replay."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work, WrongCall


def declare(parser: argparse.ArgumentParser) -> None:
    """The dump, the file to write, and what the dump does not say."""
    add = parser.add_argument
    add("dump", metavar="DUMP", help="pages-articles.xml, also with .gz, .bz2 or .zst; a path or an fsspec URL")
    add("--out", required=True, type=Path, metavar="FILE", help="new archive, ending in .warc.gz")
    add("--licence", default="", metavar="TAG", help="licence of the pages, such as CC-BY-SA-4.0; dumps do not say it")
    add("--date", metavar="DAY", help="day of the dump, YYYY-MM-DD (that of its name)")
    add("--namespaces", default="0", metavar="N[,N]", help="numbers of the namespaces that are wanted (0: articles)")


def part_dump(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Write, say how to go on. Raises: WrongCall, StorageError."""
    from crawler.dataset.mediawiki import day_of, part

    if not opts.out.name.endswith(".warc.gz"):
        raise WrongCall(f"--out {opts.out}: expected a name that ends in .warc.gz")
    day = _day(opts.date or day_of(opts.dump) or "")
    if day is None:
        raise WrongCall("--date: expected the day of the dump, YYYY-MM-DD; its name does not say it")
    spaces = [one.strip() for one in opts.namespaces.split(",")]
    if not all(one.isascii() and one.isdigit() for one in spaces):
        raise WrongCall(f"--namespaces {opts.namespaces}: expected numbers, such as 0,4")
    licence = opts.licence.strip()
    if not (licence.isascii() and licence.isprintable()):
        raise WrongCall(f"--licence {licence}: expected a tag, such as CC-BY-SA-4.0")
    done = part(opts.dump, opts.out, day=day, licence=licence, spaces=spaces)
    facts = {"archive": str(opts.out), "pages": done.pages, "bytes": done.bytes, "left_out": dict(done.left_out)}
    lines = [f"{number_of(done.pages, 'page')}, {done.bytes:,} bytes: gristmill crawl replay -a archive={opts.out}"]
    lines += [f"{count:,} left out: {why}" for why, count in sorted(done.left_out.items())]
    return Answer(facts, lines, [done.problem] if done.problem else [])


def _day(said: str) -> str | None:
    try:
        return date.fromisoformat(said).isoformat()
    except ValueError:
        return None


WORK = Work(
    "mediawiki wiki-20260101-pages-articles.xml --licence CC-BY-SA-4.0 --out wiki.warc.gz",
    declare,
    part_dump,
    {
        "archive": ("string", "the archive that was written"),
        "pages": ("integer", "pages in it"),
        "bytes": ("integer", "their size"),
        "left_out": ("object", "pages and revisions that are not in it, by why"),
    },
)
