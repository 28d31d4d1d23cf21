"""`scrapy genspider`: writes a spider from Scrapy's templates, which know no Document. Refused."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.refusal import RefusedCommand


class Command(RefusedCommand, ScrapyCommand):
    """In the place of Scrapy's own."""

    example = "crawl corpus -a url=https://example.org/"
    why = (
        "scrapy genspider is not in this project: Scrapy's templates know neither Document nor frontier. "
        "CONTRIBUTING.md (Add a spider) says what a spider of this project needs; crawler/spiders/corpus.py is one"
    )
