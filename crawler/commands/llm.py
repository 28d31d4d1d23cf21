"""`gristmill llm OPERATION …`: language models as tools on a finished corpus."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.operation import OperationsCommand
from crawler.operations.llm import OPERATIONS


class Command(OperationsCommand, ScrapyCommand):
    """Language models as tools, for a person: docs/language-models.md."""

    example = "llm judge corpus --model openai:gpt-5-mini --budget 5USD"
    operations = OPERATIONS
