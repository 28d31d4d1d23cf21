"""A command with operations (`gristmill dataset verify`): each has its own options, help and example."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NoReturn

from crawler.commands import options
from crawler.commands.command import ProjectCommand, add_json, unknown_options
from crawler.loading import program
from crawler.operations.answer import Answer, Schema, refuse_in_json
from crawler.operations.declared import Operation, WrongCall
from crawler.problems import InputError

GLOBAL_OPTIONS = "-s NAME=VALUE and Scrapy's other options are understood, too"
_NAME = 14
"""Columns of the help that the names of operations take."""


class OperationsCommand(ProjectCommand):
    """Finds the operation and tells a person what went wrong. `default` runs where none is named."""

    operations: ClassVar[Mapping[str, Operation]]
    default: ClassVar[str | None] = None
    usage = "OPERATION [options] …"

    def schema(self, opts: argparse.Namespace) -> Schema:
        """Of the operation that was called."""
        return schema_of(self.name, self._parsers[opts.operation].operation)

    def known(self) -> Mapping[str, Operation]:
        """The operations, with those that other packages add. Raises: InputError."""
        return self.operations

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """One parser an operation; the global options may stand before or behind its name."""
        try:
            known = self.known()
        except InputError as error:  # the operations of this package need none of another
            sys.stderr.writelines(f"warning: {problem}\n" for problem in error.problems)
            known = self.operations
        chooser = parser.add_subparsers(
            dest="operation",
            metavar="OPERATION",
            help="one of those above; OPERATION -h shows its options",
            prog=f"{program()} {self.name}",
            required=self.default is None,
            parser_class=_Parser,
        )
        for operation in known.values():
            self._add(chooser.add_parser(operation.name), operation)
        self._parsers: Mapping[str, _Parser] = chooser.choices
        _list_by_group(parser, known.values())

    def _add(self, parser: _Parser, operation: Operation) -> None:
        summary = operation.summary
        parser.description = f"{summary[:1].upper()}{summary[1:]}. {GLOBAL_OPTIONS}."
        parser.command, parser.operation = self.name, operation
        self._accept_global_options(parser)

    def _accept_global_options(self, parser: argparse.ArgumentParser) -> None:
        """What stands behind the operation adds to what stands before it, and nothing is a default twice."""
        before = len(parser._actions)
        super(ProjectCommand, self).add_options(parser)
        options.declare(parser, self.offers)
        for action in parser._actions[before:]:
            action.help = action.default = argparse.SUPPRESS
            if action.dest == "set":
                action.dest = "set_behind"
        add_json(parser, default=argparse.SUPPRESS)

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

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """A wrong call is told by the operation's own parser."""
        try:
            super().run(args, opts)
        except WrongCall as error:
            self._parsers[opts.operation].error(str(error))

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer | None:  # noqa: ARG002  # none is left over
        """Raises: WrongCall, and what the operation raises."""
        return self._parsers[opts.operation].operation.loaded().run(opts, self.load)


class _Parser(argparse.ArgumentParser):
    """The parser of an operation, whose module is loaded when it is to parse something."""

    command: str
    operation: Operation
    _is_whole = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs, allow_abbrev=False)  # an option of another operation is no short form of one here

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """With the options that the operation declares."""
        if not self._is_whole:
            self._is_whole, work = True, self.operation.loaded()
            self.epilog = f"Example: {program()} {self.command} {work.example}"
            work.declare(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Tell it, where JSON is asked for also in JSON, and end with 2."""
        refuse_in_json(schema_of(self.command, self.operation), message)
        super().error(message)


def schema_of(command: str, operation: Operation) -> Schema:
    """The form of an operation's answer."""
    work = operation.loaded()
    return Schema(f"{command}-{operation.name}", work.fields, work.version)


def _list_by_group(parser: argparse.ArgumentParser, operations: Iterable[Operation]) -> None:
    """A paragraph a group in the description of the command, a line or more an operation."""
    groups: dict[str, list[Operation]] = {}
    for operation in operations:
        groups.setdefault(operation.group, []).append(operation)
    width = shutil.get_terminal_size().columns - 2
    parts = [textwrap.fill(parser.description or "", width)]
    for group, listed in groups.items():
        indents = [(f"  {each.name:<{_NAME}}", " " * (_NAME + 2)) for each in listed]
        rows = [textwrap.fill(each.summary, width, initial_indent=first, subsequent_indent=rest)
                for each, (first, rest) in zip(listed, indents, strict=True)]  # fmt: skip
        parts.append("\n".join([f"{group}:", *rows]))
    parser.description = "\n\n".join(parts)
    as_it_is: tuple[Any, ...] = (argparse.RawDescriptionHelpFormatter, parser.formatter_class)
    listing: Any = type("Listing", as_it_is, {})
    parser.formatter_class = listing
