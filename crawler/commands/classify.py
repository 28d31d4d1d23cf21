"""`gristmill classify OPERATION …`: judgement that is learned from judged texts."""

from __future__ import annotations

from scrapy.commands import ScrapyCommand

from crawler.commands.operation import OperationsCommand
from crawler.operations.classify import OPERATIONS


class Command(OperationsCommand, ScrapyCommand):
    """Classifiers of texts, for a person: docs/classifiers.md."""

    example = "classify train worth --labels corpus --out models"
    operations = OPERATIONS
