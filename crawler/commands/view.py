"""`gristmill view URL`: a page as the crawl would get it, in a browser. Asks as the crawl asks; keeps nothing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.utils.response import open_in_browser

from crawler.commands.single_page import PageCommand
from crawler.loading import program
from crawler.operations.answer import Answer, Fields

if TYPE_CHECKING:
    from scrapy.http import Response


class Command(PageCommand, ScrapyCommand):
    """In the place of Scrapy's own, which would start a crawl with frontier and corpus."""

    example = "view https://example.org/ --contact https://example.org/bot"
    fields: ClassVar[Fields] = {
        "url": ("string", "address of the answer, redirects followed"),
        "status": ("integer", "HTTP status"),
    }

    def show(self, response: Response, opts: argparse.Namespace) -> Answer:  # noqa: ARG002  # as in `fetch`
        """Hand a temporary file to the browser."""
        if not open_in_browser(response):
            problem = f"no browser was found; `{program()} fetch URL > page.html` writes the page into a file"
            return Answer(problems=[problem])
        return Answer({"url": response.url, "status": response.status})
