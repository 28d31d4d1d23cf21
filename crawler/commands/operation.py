"""A command with operations (`scrapy dataset verify`): each has its own options, help and example."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from scrapy.exceptions import UsageError

from crawler.commands import options
from crawler.commands.command import ProjectCommand, unknown_options
from crawler.loading import program

if TYPE_CHECKING:
    from crawler.config import Config

GLOBAL_OPTIONS = "-s NAME=VALUE and Scrapy's other options are understood, too"


class Load(Protocol):
    """Reads the settings; keyword arguments set some of them first, as `-s` does."""

    def __call__(self, **overrides: object) -> Config:
        """Raises: ConfigError."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What a command can do.

    summary: one sentence for the help. example: what follows the command's name in a call that works. declare: adds
    arguments and options. run: (options, load) -> problems, one sentence each; none = done.
    """

    summary: str
    example: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Load], list[str]]


class OperationsCommand(ProjectCommand):
    """Finds the operation and tells a person what went wrong. `default` runs where none is named."""

    operations: ClassVar[Mapping[str, Operation]]
    default: ClassVar[str | None] = None

    def syntax(self) -> str:
        """What follows the command's name."""
        return "OPERATION [options] …"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """One parser an operation; the global options may stand before or behind its name."""
        chooser = parser.add_subparsers(
            title="operations",
            dest="operation",
            metavar="OPERATION",
            prog=f"{program()} {self.name}",
            required=self.default is None,
            parser_class=argparse.ArgumentParser,
        )
        for operation, what in self.operations.items():
            of_operation = chooser.add_parser(
                operation,
                help=what.summary,
                description=f"{what.summary[:1].upper()}{what.summary[1:]}. {GLOBAL_OPTIONS}.",
                epilog=f"Example: {program()} {self.name} {what.example}",
            )
            self._accept_global_options(of_operation)
            what.declare(of_operation)
        self._parsers: Mapping[str, argparse.ArgumentParser] = chooser.choices

    def _accept_global_options(self, parser: argparse.ArgumentParser) -> None:
        """What stands behind the operation adds to what stands before it, and nothing is a default twice."""
        before = len(parser._actions)
        super(ProjectCommand, self).add_options(parser)
        options.declare(parser, self.offers)
        for action in parser._actions[before:]:
            action.help = action.default = argparse.SUPPRESS
            if action.dest == "set":
                action.dest = "set_behind"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """An option that the operation does not have is an error of its parser, exit code 2."""
        if opts.operation is None and self.default is not None:
            opts.operation = self.default
            self._parsers[self.default].parse_args(args, opts)
            args = []
        if unknown := unknown_options(args):
            self._parsers[opts.operation].error(f"{', '.join(unknown)}: no option of {opts.operation}")
        if args:
            self._parsers[opts.operation].error(f"unexpected {' '.join(map(repr, args))}")
        opts.set = [*opts.set, *getattr(opts, "set_behind", [])]
        super().process_options(args, opts)

    def work(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002  # none is left over
        """Raises: what the operation raises; a wrong call is told by its own parser."""
        try:
            problems = self.operations[opts.operation].run(opts, self.load)
        except UsageError as error:
            self._parsers[opts.operation].error(str(error))
        if problems:
            self.complain(problems)
