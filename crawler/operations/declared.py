"""An operation is one declared object: what it is called, its help, options, work and the schema of its answer."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from crawler.operations.answer import Answer, Fields

if TYPE_CHECKING:
    from crawler.config import Config


class WrongCall(Exception):  # noqa: N818  # a caller's mistake, told with the usage, exit code 2
    """The options cannot go together; the message says which and what to do."""


class Load(Protocol):
    """Reads the settings; keyword arguments set some of them first, as `-s` does."""

    def __call__(self, **overrides: object) -> Config:
        """Raises: ConfigError."""


@dataclass(frozen=True, slots=True)
class Work:
    """What an operation does.

    example: what follows the command's name in a call that works. declare: adds arguments and options; `--json` is
    there. run: options and `Load` -> answer; None where `opts.tell` was given it already, because the work goes on
    after it or its lines are read from something that has to be closed. fields: of the answer. version: of the schema.
    """

    example: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Load], Answer | None]
    fields: Fields
    version: int = 1


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a command.

    summary: one line for the help. work: the work, or where it stands ("module:NAME"), to be loaded when it is called
    for. group: the heading under which the help lists it.
    """

    name: str
    summary: str
    work: Work | str
    group: str = "Operations"

    def loaded(self) -> Work:
        """The work."""
        if isinstance(self.work, Work):
            return self.work
        module, _, name = self.work.partition(":")
        found = getattr(import_module(module), name)
        assert isinstance(found, Work), self.work
        return found


def by_name(*operations: Operation) -> dict[str, Operation]:
    """A registry of operations in the order of the help."""
    return {operation.name: operation for operation in operations}
