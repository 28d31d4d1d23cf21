"""`scrapy parse`: shows what a callback yields, and ours yield to a frontier and a corpus. Refused."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.refusal import RefusedCommand


class Command(RefusedCommand, ScrapyCommand):
    """In the place of Scrapy's own."""

    example = "diagnose --live url=https://example.org/ --sample 1"
    why = (
        "scrapy parse is not in this project: its spiders work with a frontier and a corpus. `scrapy fetch URL` prints "
        "a page, `scrapy shell URL` opens a console on it, `scrapy diagnose --live url=URL --sample 1` shows what the "
        "stages make of it"
    )
