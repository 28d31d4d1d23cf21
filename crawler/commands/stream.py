"""`gristmill stream CORPUS_DIR --to redis://…|kafka://…`: a corpus as messages."""

from __future__ import annotations

import argparse
from typing import ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.command import ProjectCommand
from crawler.operations import stream
from crawler.operations.answer import Answer, Fields
from crawler.operations.declared import WrongCall


class Command(ProjectCommand, ScrapyCommand):
    """docs/stream.md."""

    example = "stream corpus --to redis://localhost/pages --follow"
    usage = "[options] CORPUS_DIR"
    fields: ClassVar[Fields] = stream.FIELDS

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Where it goes, and from where on."""
        stream.declare(parser)

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer | None:
        """One corpus."""
        if len(args) != 1:
            raise UsageError("expected one CORPUS_DIR")
        try:
            return stream.stream(args[0], opts)
        except WrongCall as error:
            raise UsageError(str(error)) from None
