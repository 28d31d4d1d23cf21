"""`scrapy bench`: measures Scrapy alone, with a spider that knows no frontier. Refused."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.refusal import RefusedCommand


class Command(RefusedCommand, ScrapyCommand):
    """In the place of Scrapy's own."""

    example = "crawl corpus -a url=https://example.org/"
    why = (
        "scrapy bench is not in this project: it measures Scrapy alone, and the network guard refuses its server. "
        "`make bench` measures this project"
    )
