"""`scrapy startproject`: makes a project of plain Scrapy, which has nothing of this one. Refused."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.refusal import RefusedCommand


class Command(RefusedCommand, ScrapyCommand):
    """In the place of Scrapy's own."""

    example = "crawl corpus -a url=https://example.org/"
    why = (
        "scrapy startproject is not in this project: a new Scrapy project would have nothing of this one. Call it in a "
        "folder outside the project"
    )
