"""The base of every command of this project: help with an example, unknown options refused, errors as sentences.

It is no `ScrapyCommand` when the program runs: Scrapy takes every such class it finds in this package for a command.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import UsageError

from crawler.commands import options
from crawler.commands.interrupt import Interrupted, interruptible, leave
from crawler.commands.table import LINES
from crawler.loading import program
from crawler.runtime import load
from crawler.storage.files.errors import denied

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
    return (*known, ScopeError, StorageError, FrontierError, DedupError, PoolError, ActionError, PermissionError)


def problems_of(error: Exception) -> list[str]:
    """The sentences an error brings."""
    if isinstance(error, PermissionError) and error.filename is not None:
        return [denied(error)]
    return list(getattr(error, "problems", [str(error)]))


def unknown_options(args: Iterable[str]) -> list[str]:
    """What looks like an option and was left over: Scrapy hands it on as if it were an argument."""
    return [word for word in args if word.startswith("-") and word != "-"]


class ProjectCommand(Base):
    """`example` is what follows the program's name in a call that works; `declare` adds the options, `work` does it.

    Exit codes: 0 done; 1 not done, standard error says why; 2 a wrong call; 130 and 143 after SIGINT and SIGTERM.
    """

    requires_project = True
    requires_crawler_process = False
    example: ClassVar[str]
    offers: ClassVar[tuple[str, ...]] = ()
    """Settings that are options of this command, too."""

    @property
    def name(self) -> str:
        """What follows the program: Scrapy names a command after its module."""
        return self.__module__.rpartition(".")[2]

    def short_desc(self) -> str:
        """One line for the help."""
        return LINES[self.name]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's global options, then ours."""
        super().add_options(parser)
        parser.prog = f"{program()} {self.name}"
        parser.epilog = f"Example: {program()} {self.example}"
        self.declare(parser)
        options.declare(parser, self.offers)

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError for an option that this command does not have."""
        if unknown := unknown_options(args):
            raise UsageError(f"unknown option {', '.join(unknown)}")
        super().process_options(args, opts)
        assert self.settings is not None
        options.take(self.settings, opts, self.offers)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """`work`, with what goes wrong told in sentences. Pages are in any script, so the answer is UTF-8 anywhere."""
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        try:
            with interruptible():
                self.work(args, opts)
                sys.stdout.flush()
        except expected_errors() as error:
            self.complain(problems_of(error))
        except BrokenPipeError:  # `| head` has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = 1
        except Interrupted as error:
            leave(error)

    @abstractmethod
    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do it; set `exitcode`, or `complain`. Raises: any of `expected_errors`."""

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
