"""`scrapy check [SPIDER]`: Scrapy's check of contracts; an unknown spider is a sentence."""

from __future__ import annotations

import argparse

from scrapy.commands.check import Command as ScrapyCheck
from scrapy.exceptions import UsageError

from crawler.commands.command import unknown_options
from crawler.commands.spider_names import unknown_spider


class Command(ScrapyCheck):
    """The spiders of this project have no contracts, which need a crawl without a frontier; one of your own may."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError."""
        assert self.settings is not None
        if unknown := unknown_options(args):
            raise UsageError(f"unknown option {', '.join(unknown)}")
        if problems := [problem for name in args if (problem := unknown_spider(self.settings, name))]:
            raise UsageError("; ".join(problems))
        super().run(args, opts)
