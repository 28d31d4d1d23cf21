"""The base of every command of this project: help with an example, unknown options refused, errors as sentences.

It is no `ScrapyCommand` when the program runs: Scrapy takes every such class it finds in this package for a command.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from abc import abstractmethod
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TextIO

from scrapy.exceptions import UsageError

from crawler.commands import options
from crawler.commands.interrupt import Interrupted, interruptible, leave
from crawler.commands.table import LINES
from crawler.loading import program
from crawler.observe.plain import beneath, make_plain
from crawler.operations.answer import Answer, Schema, encoded, refuse_in_json
from crawler.runtime import load
from crawler.storage.files.errors import denied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy.commands import ScrapyCommand as Base
    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import Settings

    from crawler.config import Config
    from crawler.operations.answer import Fields
else:
    Base = object


def expected_errors() -> tuple[type[Exception], ...]:
    """What a command tells a person instead of a traceback; some carry several `problems`.

    A function, because some of these modules cost every crawl 0.1 s to load and are needed only after an error.
    """
    from crawler.dedup.index import DedupError
    from crawler.frontier.operate import ActionError
    from crawler.pool.pool import PoolError
    from crawler.problems import InputError
    from crawler.seeds.scope import ScopeError
    from crawler.server.errors import FrontierError
    from crawler.storage.files.errors import StorageError

    known = (InputError, ScopeError, StorageError, FrontierError, DedupError)
    return (*known, PoolError, ActionError, PermissionError)


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

    `fields` are those of its answer with `--json`. Exit codes: 0 done; 1 not done, standard error says why; 2 a wrong
    call; 3 `report --check`: a gate does not hold; 130 and 143 after SIGINT and SIGTERM.
    """

    requires_project = True
    requires_crawler_process = False
    settings: Settings  # set before the first question, as is the process of a command that requires one
    crawler_process: CrawlerProcessBase
    example: ClassVar[str]
    fields: ClassVar[Fields] = {}
    schema_version: ClassVar[int] = 1
    offers: ClassVar[tuple[str, ...]] = ()
    """Settings that are options of this command, too."""
    prints_plain: ClassVar[bool] = True
    """Whatever it prints steers no terminal; False where it has a console of its own."""
    usage: ClassVar[str] = ""
    """What follows the command's name; empty = as Scrapy says."""
    _asked: Schema | None = None  # the object that is to be written
    _is_told = False
    _out: TextIO
    _problems: list[str]

    @property
    def name(self) -> str:
        """What follows the program: Scrapy names a command after its module."""
        return self.__module__.rpartition(".")[2]

    def schema(self, opts: argparse.Namespace) -> Schema:  # noqa: ARG002  # the operation called, where there are some
        """The form of the answer."""
        return Schema(self.name, self.fields, self.schema_version)

    def syntax(self) -> str:
        """What follows the command's name."""
        return self.usage or str(super().syntax())

    def short_desc(self) -> str:
        """One line for the help."""
        return LINES[self.name]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's global options, then ours."""
        super().add_options(parser)
        parser.prog = f"{program()} {self.name}"
        parser.epilog = f"Example: {program()} {self.example}"
        add_json(parser)
        refuse = parser.error

        def error(message: str) -> NoReturn:
            refuse_in_json(Schema(self.name, self.fields, self.schema_version), message)
            refuse(message)

        parser.error = error  # type: ignore[method-assign]  # Scrapy makes the parser
        self.declare(parser)
        options.declare(parser, self.offers)

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError for an option that this command does not have."""
        if self.prints_plain:
            make_plain()  # before the log is: it goes to the stream that is there then
        if unknown := unknown_options(args):
            raise UsageError(f"unknown option {', '.join(unknown)}")
        super().process_options(args, opts)
        options.take(self.settings, opts, self.offers)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """`work`, and its answer."""
        with self.answering(opts), interruptible():
            if (answer := self.work(args, opts)) is not None:
                self.tell(answer)

    @contextmanager
    def answering(self, opts: argparse.Namespace) -> Iterator[None]:
        """While this is open `tell` and `complain` work, and what goes wrong is told in sentences.

        With `--json` one object is the whole standard output: what else is printed goes to standard error, and where
        nothing was told the problems are the answer. Pages are in any script and files of any name: UTF-8 anywhere.
        """
        self._out = sys.stdout
        if isinstance(out := beneath(self._out), io.TextIOWrapper):
            out.reconfigure(encoding="utf-8", errors="backslashreplace")
        self._asked = self.schema(opts) if opts.json else None
        self._problems, opts.tell = [], self.tell
        with redirect_stdout(sys.stderr if opts.json else self._out):
            try:
                try:
                    yield
                except expected_errors() as error:
                    self.complain(problems_of(error))
                self._write(Answer(problems=self._problems))
            except BrokenPipeError:  # `| head` has seen enough
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
                self.exitcode = 1
            except Interrupted as error:
                self._write(Answer(problems=[*self._problems, str(error)]))
                leave(error)

    def tell(self, answer: Answer) -> None:
        """Give the answer, once a call. What goes wrong after it is no part of the object, only a sentence."""
        if self._asked is None:
            answer.show()
        self._write(answer)
        self.complain(answer.problems, answer.code)

    def _write(self, answer: Answer) -> None:
        """The object, where one was asked for and none is written yet."""
        if self._asked is not None and not self._is_told:
            said = encoded(self._asked, answer)
            self._is_told = True  # before a reader sees it, who may send a signal while this thread waits for its turn
            self._out.write(said)
        self._out.flush()

    @abstractmethod
    def work(self, args: list[str], opts: argparse.Namespace) -> Answer | None:
        """Do it; None where `tell` was given the answer already. Raises: any of `expected_errors`."""

    def load(self, **overrides: Any) -> Config:
        """The settings, some of them set first as `-s` does. Raises: ConfigError."""
        for name, value in overrides.items():
            self.settings.set(name, value, priority="cmdline")
        return load(self.settings)

    def complain(self, problems: Sequence[str], exitcode: int = 1) -> None:
        """One line a problem on standard error, and the exit code."""
        self._problems += problems
        sys.stderr.writelines(f"error: {problem}\n" for problem in problems)
        self.exitcode = exitcode


def add_json(parser: argparse.ArgumentParser, **more: Any) -> None:
    """Declare --json."""
    parser.add_argument("--json", action="store_true", help="print one JSON object (docs/json.md)", **more)
