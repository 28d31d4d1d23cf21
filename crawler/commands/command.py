"""The base of every command of this project: help with an example, unknown options refused, errors as sentences.

It is no `ScrapyCommand` when the program runs: Scrapy takes every such class it finds in this package for a command.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import UsageError

from crawler.runtime import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.commands import ScrapyCommand as Base

    from crawler.config import Config
else:
    Base = object


def expected_errors() -> tuple[type[Exception], ...]:
    """What a command tells a person instead of a traceback; some carry several `problems`.

    A function, because some of these modules cost every crawl 0.1 s to load and are needed only after an error.
    """
    from crawler.config import ConfigError, LaunchError
    from crawler.dedup.index import DedupError
    from crawler.frontier.operate import ActionError
    from crawler.pool.pool import PoolError
    from crawler.seeds.allowlist import AllowlistError
    from crawler.seeds.scope import ScopeError
    from crawler.seeds.seed_file import SeedError
    from crawler.server.errors import FrontierError
    from crawler.stages.contamination.read import EvalSetError
    from crawler.storage.files.errors import StorageError

    known = (ConfigError, LaunchError, SeedError, AllowlistError, EvalSetError)
    return (*known, ScopeError, StorageError, FrontierError, DedupError, PoolError, ActionError)


def problems_of(error: Exception) -> list[str]:
    """The sentences an error brings."""
    return list(getattr(error, "problems", [str(error)]))


def unknown_options(args: Iterable[str]) -> list[str]:
    """What looks like an option and was left over: Scrapy hands it on as if it were an argument."""
    return [word for word in args if word.startswith("-") and word != "-"]


class ProjectCommand(Base):
    """`example` is a command line that works, without `scrapy`; `declare` adds the command's options."""

    requires_project = True
    requires_crawler_process = False
    example: ClassVar[str]

    @property
    def name(self) -> str:
        """What follows `scrapy`: Scrapy names a command after its module."""
        return self.__module__.rpartition(".")[2]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's global options, then ours."""
        super().add_options(parser)
        parser.prog = f"scrapy {self.name}"
        parser.epilog = f"Example: scrapy {self.example}"
        self.declare(parser)

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError for an option that this command does not have."""
        if unknown := unknown_options(args):
            raise UsageError(f"unknown option {', '.join(unknown)}")
        super().process_options(args, opts)

    def load(self, **overrides: Any) -> Config:
        """The settings, some of them set first as `-s` does. Raises: ConfigError."""
        assert self.settings is not None
        for name, value in overrides.items():
            self.settings.set(name, value, priority="cmdline")
        return load(self.settings)

    def complain(self, problems: list[str], exitcode: int = 1) -> None:
        """One line a problem on standard error, and the exit code."""
        sys.stderr.writelines(f"error: {problem}\n" for problem in problems)
        self.exitcode = exitcode
