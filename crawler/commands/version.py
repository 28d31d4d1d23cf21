"""`scrapy version`: Scrapy's own; an argument or option that nobody reads is a wrong call."""

from __future__ import annotations

import argparse

from scrapy.commands.version import Command as ScrapyVersion
from scrapy.exceptions import UsageError

from crawler.commands.strict import Strict


class Command(Strict, ScrapyVersion):
    """Takes no argument."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError."""
        if args:
            raise UsageError(f"unexpected {args[0]!r}")
        super().run(args, opts)
