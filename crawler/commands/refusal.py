"""Commands of Scrapy that can do nothing sensible here: each answers at once, in one sentence, with exit code 2."""

from __future__ import annotations

import argparse
from typing import ClassVar

from crawler.commands.command import ProjectCommand
from crawler.operations.answer import Answer


class RefusedCommand(ProjectCommand):
    """`why` says why not, and what to do instead. `example` is what to type instead."""

    why: ClassVar[str]

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Not in this project: it says what to use instead"

    def long_desc(self) -> str:
        """The sentence, for `scrapy NAME -h`."""
        return self.why

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Whatever is given, the answer is the same."""

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:  # noqa: ARG002  # Scrapy's signature
        """Say it."""
        return Answer(problems=[self.why], exitcode=2)
