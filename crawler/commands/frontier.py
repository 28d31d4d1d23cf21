"""`gristmill frontier OPERATION …`: look after a running crawl, from any machine that reaches its server."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands import options
from crawler.commands.operation import OperationsCommand
from crawler.operations.tend import OPERATIONS


class Command(OperationsCommand, ScrapyCommand):
    """The actions of `crawler/frontier/operate.py`, for a person; the status where none is named."""

    example = "frontier status"
    offers = options.PLACE
    operations = OPERATIONS
    default = "status"
