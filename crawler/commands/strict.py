"""Scrapy's own commands, as they are, but for options they do not have: Scrapy hands those on as arguments, unread."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawler.commands.command import unknown_options

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand as Base
else:
    Base = object


class Strict(Base):
    """In front of a command of Scrapy: an option that nobody reads is a wrong call."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's, under the name that was typed."""
        super().add_options(parser)
        parser.prog = f"scrapy {self.__module__.rpartition('.')[2]}"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError."""
        if unknown := unknown_options(args):
            raise UsageError(f"unknown option {', '.join(unknown)}")
        super().process_options(args, opts)
