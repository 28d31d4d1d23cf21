"""`scrapy check [SPIDER]`: Scrapy's check of contracts; an unknown spider is a sentence."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands.check import Command as ScrapyCheck
from scrapy.exceptions import UsageError

from crawler.commands.spider_names import unknown_spider
from crawler.commands.strict import Strict
from crawler.config import ConfigError
from crawler.runtime import load


class Command(Strict, ScrapyCheck):
    """The spiders of this project have no contracts, which need a crawl without a frontier; one of your own may."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError."""
        assert self.settings is not None
        if problems := [problem for name in args if (problem := unknown_spider(self.settings, name))]:
            raise UsageError("; ".join(problems))
        try:
            load(self.settings)
        except ConfigError as error:
            sys.stderr.writelines(f"error: {problem}\n" for problem in error.problems)
            self.exitcode = 1
            return
        super().run(args, opts)
