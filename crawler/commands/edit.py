"""`scrapy edit SPIDER`: Scrapy's own; an unknown spider or an editor that is not there is a sentence."""

from __future__ import annotations

import argparse

from scrapy.commands.edit import Command as ScrapyEdit
from scrapy.exceptions import UsageError

from crawler.commands.spider_names import unknown_spider
from crawler.commands.strict import Strict


class Command(Strict, ScrapyEdit):
    """Opens the file of a spider in EDITOR."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError."""
        assert self.settings is not None
        if len(args) == 1 and (problem := unknown_spider(self.settings, args[0])):
            raise UsageError(problem)
        try:
            super().run(args, opts)
        except OSError as error:
            self._err(f"error: EDITOR={self.settings['EDITOR']}: {error.strerror}; set EDITOR to an editor you have")
