"""`replay ARCHIVE`: archived pages through the pipelines again, no network: `crawl replay -a archive=ARCHIVE`."""

from __future__ import annotations

import argparse

from scrapy.exceptions import UsageError

from crawler.commands import crawl
from crawler.operations.answer import Answer


class Command(crawl.Command):
    """`crawl` with the spider `replay`."""

    example = "replay 'corpus/archive/*.warc.gz' --out again"
    usage = "ARCHIVE [options]"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Which part of the archives, and where it ends."""
        parser.add_argument("--part", metavar="K/N", help="only the K-th of N parts of the archives; 1/1")
        parser.add_argument("--anonymous", action="store_true", help="read object stores without credentials")
        parser.add_argument("--base", metavar="URL", help="where the relative paths of a list of archives begin")
        crawl.declare_limit(parser)

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Exit code 0 only where every archive was read. Raises: UsageError."""
        if len(args) != 1:
            raise UsageError("expected one ARCHIVE: a path, a folder, a URL, or a pattern in quotes")
        typed = {"archive": args[0], "part": opts.part, "base": opts.base, "anonymous": "yes" if opts.anonymous else ""}
        return self.crawl("replay", {name: value for name, value in typed.items() if value} | opts.spargs, opts)
