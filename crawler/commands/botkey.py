"""`gristmill botkey new | directory | check`: the key by which sites recognise the crawler, and its published half."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.operation import OperationsCommand
from crawler.operations.botkey import OPERATIONS


class Command(OperationsCommand, ScrapyCommand):
    """Web Bot Auth, for a person: docs/bot-signature.md."""

    example = "botkey new bot-key.pem"
    operations = OPERATIONS
