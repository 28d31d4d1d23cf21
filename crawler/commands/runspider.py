"""`scrapy runspider`: runs a file's spider with these settings, which ask for a frontier. Refused."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.refusal import RefusedCommand


class Command(RefusedCommand, ScrapyCommand):
    """In the place of Scrapy's own."""

    example = "crawl corpus -a url=https://example.org/"
    why = (
        "scrapy runspider is not in this project: a spider of a single file knows neither frontier nor corpus. Run it "
        "in a folder outside the project, or add it to crawler/spiders (CONTRIBUTING.md, Add a spider) and use "
        "`scrapy crawl`"
    )
