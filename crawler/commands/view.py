"""`scrapy view URL`: a page as the crawl would get it, in a browser. Asks as the crawl asks; keeps nothing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.utils.response import open_in_browser

from crawler.commands.single_page import PageCommand
from crawler.loading import program

if TYPE_CHECKING:
    from scrapy.http import Response


class Command(PageCommand, ScrapyCommand):
    """In the place of Scrapy's own, which would start a crawl with frontier and corpus."""

    example = "view https://example.org/ --contact https://example.org/bot"

    def show(self, response: Response, opts: argparse.Namespace) -> None:  # noqa: ARG002  # as in `fetch`
        """Hand a temporary file to the browser."""
        if not open_in_browser(response):
            self.complain([f"no browser was found; `{program()} fetch URL > page.html` writes the page into a file"])
