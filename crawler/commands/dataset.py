"""`scrapy dataset OPERATION …`: what happens to a corpus after its crawl. One module an operation."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import _batch, _diff, _exclude, _expire, _index, _select, _supersede, _verify
from crawler.config import Config, ConfigError
from crawler.runtime import load
from crawler.seeds.allowlist import AllowlistError
from crawler.storage.files.errors import StorageError

OPERATIONS = {
    "verify": _verify.OPERATION,
    "select": _select.OPERATION,
    "diff": _diff.OPERATION,
    "supersede": _supersede.OPERATION,
    "exclude": _exclude.OPERATION,
    "expire": _expire.OPERATION,
    **_batch.OPERATIONS,
    "index": _index.OPERATION,
}


class Command(ScrapyCommand):
    """Finds the operation, reads the settings with its options, and tells a person what went wrong."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """What follows the command's name."""
        return "\n  ".join(operation.syntax for operation in OPERATIONS.values())

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Check a corpus, compose a subset, withdraw domains, find repeated passages and evaluation sets"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of all operations."""
        super().add_options(parser)
        for module in (_verify, _select, _diff, _exclude, _expire, _batch, _index):
            module.add_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit code 1 where the operation did not do what it says."""
        operation = OPERATIONS.get(args[0]) if args else None
        if operation is None:
            raise UsageError(f"expected: scrapy dataset {'|'.join(OPERATIONS)} …")
        if len(args) < 2 or (len(args) > 2 and not operation.many):
            raise UsageError(f"expected: scrapy dataset {operation.syntax}")
        from crawler.stages.contamination.read import EvalSetError  # late: it would cost every crawl 0.1 s to start

        try:
            problems = operation.run(args[1:], opts, self._load)
        except (StorageError, ConfigError, AllowlistError, EvalSetError) as error:
            problems = getattr(error, "problems", [str(error)])
        for problem in problems:
            sys.stderr.write(f"error: {problem}\n")
        self.exitcode = 1 if problems else 0

    def _load(self, **overrides: Any) -> Config:
        assert self.settings is not None
        for name, value in overrides.items():
            self.settings.set(name, value, priority="cmdline")
        return load(self.settings)
