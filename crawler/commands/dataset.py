"""`gristmill dataset OPERATION …`: what happens to a corpus after its crawl."""

from __future__ import annotations

from collections.abc import Mapping

from scrapy.commands import ScrapyCommand

from crawler.commands.operation import OperationsCommand
from crawler.operations.built_in import OPERATIONS
from crawler.operations.declared import Operation
from crawler.plugins import added


class Command(OperationsCommand, ScrapyCommand):
    """The operations of `crawler/operations/built_in.py` and those of other packages, for a person."""

    example = "dataset verify corpus"
    operations = OPERATIONS

    def known(self) -> Mapping[str, Operation]:
        """Raises: InputError."""
        return {**OPERATIONS, **added("operations", Operation, frozenset(OPERATIONS))}
