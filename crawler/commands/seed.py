"""`scrapy seed`: put URLs, sitemaps or an allowlist into a frontier, from anywhere, while workers run or before."""

from __future__ import annotations

import argparse
import sys
from typing import ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.command import ProjectCommand
from crawler.frontier.seeding import seed_server
from crawler.launch import unknown_profiles
from crawler.operations.answer import Answer, Fields
from crawler.problems import InputError
from crawler.seeds.arguments import plan_of
from crawler.urls.tracking import extended_policy


class Command(ProjectCommand, ScrapyCommand):
    """Exit code 0 only where every seed is in the frontier, now or before."""

    example = "seed -a url=https://example.org/ -s CORPUS_DIR=corpus"
    fields: ClassVar[Fields] = {
        "added": ("integer", "URLs that the frontier has now and had not"),
        "known": ("integer", "URLs that it had before"),
        "refused": ("object", "URLs that it does not take, by reason"),
    }

    def syntax(self) -> str:
        """Shown by `scrapy seed -h`."""
        return "-a url=URL[,…] | sitemap=URL[,…] | seeds=FILE | allowlist=FILE | api=FILE [-a discovery=links|sitemap]"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Put seeds, sitemaps or an allowlist into a frontier"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """`-a` as in `scrapy crawl`."""
        parser.add_argument(
            "-a", dest="arguments", action="append", default=[], metavar="NAME=VALUE",
            help="url=, sitemap=, seeds=, allowlist=, api= or discovery=, as in scrapy crawl corpus -a",
        )  # fmt: skip

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """What was added, known and refused."""
        if args:
            raise UsageError(f"unexpected {args[0]!r}: arguments are given as -a NAME=VALUE")
        given = dict(item.partition("=")[::2] for item in opts.arguments)
        config = self.load()
        plan = plan_of(given, extended_policy(config.frontier.tracking_params))
        if problems := unknown_profiles(config, plan):
            raise InputError(problems)
        sys.stderr.writelines(f"warning: {warning}\n" for warning in plan.warnings)
        sown = seed_server(config, plan)
        return Answer({"added": sown.added, "known": sown.seen, "refused": sown.refused}, [str(sown)], sown.examples)
