"""`scrapy frontier OPERATION …`: look after a running crawl, from any machine that reaches its server."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.operation import OperationsCommand
from crawler.commands.operations.tend import OPERATIONS


class Command(OperationsCommand, ScrapyCommand):
    """The actions of `crawler/frontier/operate.py`, for a person; the status where none is named."""

    example = "frontier status"
    operations = OPERATIONS
    default = "status"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Look after a running crawl: status, export, pause, resume, drain, requeue, purge"
