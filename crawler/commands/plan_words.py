"""The words of a command, held against the parser of that command without running it."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module

from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawler.commands import begin
from crawler.commands.operation import OperationsCommand
from crawler.commands.table import LINES
from crawler.problems import did_you_mean

ENDLESS = frozenset({"explore", "shell", "view", "demo", "plan"})
"""Commands for a person, which no plan can wait for."""


def wrong_with(words: Sequence[str]) -> str:
    """What is wrong with the call `gristmill WORDS`, as a sentence; empty = nothing that the parser can know."""
    name, rest = words[0], list(words[1:])
    if name not in LINES:
        return f"there is no command {name!r}{did_you_mean(name, LINES)}"
    if name in ENDLESS:
        return f"{name} is a command for a person: a plan could not wait for its end"
    command = import_module(f"crawler.commands.{name}").Command()
    command.settings = Settings({"SPIDER_MODULES": ["crawler.spiders"]})
    said = io.StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(io.StringIO()):
            parser = argparse.ArgumentParser(usage=f"gristmill {name}", conflict_handler="resolve")
            command.add_options(parser)
            opts, args = parser.parse_known_args(rest)
            unknown = [word for word in args if word.startswith("-") and word != "-"]
            if unknown:
                parser.error(f"unknown option {', '.join(unknown)}")
            if isinstance(command, OperationsCommand) and args:
                parser.error(f"unexpected {' '.join(map(repr, args))}")
            if name in {"crawl", "work"}:
                begin.read_pairs(opts)
                opts.allow_local = False  # nobody is looked up here
                begin.spider_and_arguments(command.settings, args, opts, name)
    except UsageError as error:
        return str(error)
    except SystemExit as error:
        if not error.code:
            return f"{' '.join(words)} only prints a help"
        return said.getvalue().strip().rpartition("\n")[2].rpartition(" error: ")[2] or "wrong arguments"
    return ""
