"""`scrapy dataset OPERATION …`: what happens to a corpus after its crawl. One module an operation."""

from __future__ import annotations

from typing import ClassVar

from scrapy.commands import ScrapyCommand

from crawler.commands.operation import Operation, OperationsCommand
from crawler.commands.operations import (
    across,
    best,
    captures,
    contaminated,
    diff,
    duplicates,
    exclude,
    expire,
    export,
    index,
    mix,
    page,
    query,
    registry,
    repair,
    select,
    substrings,
    supersede,
    verify,
)


class Command(OperationsCommand, ScrapyCommand):
    """The operations of `crawler/dataset`, for a person."""

    example = "dataset verify corpus"
    operations: ClassVar[dict[str, Operation]] = {
        "verify": verify.OPERATION,
        "repair": repair.OPERATION,
        "select": select.OPERATION,
        "export": export.OPERATION,
        "mix": mix.OPERATION,
        "across": across.OPERATION,
        "diff": diff.OPERATION,
        "supersede": supersede.OPERATION,
        "exclude": exclude.OPERATION,
        "expire": expire.OPERATION,
        "substrings": substrings.OPERATION,
        "contaminated": contaminated.OPERATION,
        "index": index.OPERATION,
        "duplicates": duplicates.OPERATION,
        "best": best.OPERATION,
        "query": query.OPERATION,
        "page": page.OPERATION,
        "log": registry.LOG,
        "show": registry.SHOW,
        "tag": registry.TAG,
        "lineage": registry.LINEAGE,
        "captures": captures.OPERATION,
    }
