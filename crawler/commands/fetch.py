"""`scrapy fetch URL`: a page as the crawl would get it, on standard output. Asks as the crawl asks; keeps nothing."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from crawler.commands.single_page import PageCommand

if TYPE_CHECKING:
    from scrapy.http import Response


class Command(PageCommand, ScrapyCommand):
    """In the place of Scrapy's own, which would start a crawl with frontier and corpus."""

    example = "fetch https://example.org/ --contact https://example.org/bot"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare --headers, and what every such command has."""
        parser.add_argument("--headers", action="store_true", help="the headers of request and response, not the body")
        super().declare(parser)

    def show(self, response: Response, opts: argparse.Namespace) -> None:
        """Bytes as they came, decompressed."""
        if not opts.headers:
            sys.stdout.buffer.write(response.body + b"\n")
            return
        assert response.request is not None
        for sign, headers in ((b">", response.request.headers), (b"<", response.headers)):
            for name, values in headers.items():
                for value in values:
                    sys.stdout.buffer.write(sign + b" " + name + b": " + value + b"\n")
