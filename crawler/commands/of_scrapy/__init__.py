"""Scrapy's own commands under `scrapy`: five can do nothing sensible here and say so, four are as they are.

Scrapy knows a command by its module. This package has one for each name of the tables, and no files for them.
"""

from __future__ import annotations

import argparse
import io
import sys
from contextlib import redirect_stdout
from importlib import import_module
from types import ModuleType
from typing import ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.command import ProjectCommand
from crawler.commands.spider_names import unknown_spider
from crawler.operations.answer import Answer, Fields

REFUSED = {
    "bench": "it measures Scrapy alone, and the network guard refuses its server. `make bench` measures this project",
    "genspider": "Scrapy's templates know neither Document nor frontier. CONTRIBUTING.md (Add a spider) says what a "
    "spider of this project needs; crawler/spiders/corpus.py is one",
    "parse": "its spiders work with a frontier and a corpus. `scrapy fetch URL` prints a page, `scrapy shell URL` "
    "opens a console on it, `scrapy diagnose --live url=URL --sample 1` shows what the stages make of it",
    "runspider": "a spider of a single file knows neither frontier nor corpus. Run it in a folder outside the project, "
    "or add it to crawler/spiders (CONTRIBUTING.md, Add a spider) and use `scrapy crawl`",
    "startproject": "a new Scrapy project would have nothing of this one. Call it in a folder outside the project",
}
"""Why there is no such command in this project, and what to do instead."""
KEPT = {"check": True, "edit": True, "list": False, "version": False}
"""Does the command take names of spiders? Else it takes no argument."""


class Refused(ProjectCommand):
    """Whatever is given, the answer is the same."""

    example = "crawl https://example.org/"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Not in this project: it says what to use instead"

    def long_desc(self) -> str:
        """The sentence, for `scrapy NAME -h`."""
        return f"scrapy {self.name} is not in this project: {REFUSED[self.name]}"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """No option is wrong."""

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:  # noqa: ARG002  # Scrapy's signature
        """Say it."""
        return Answer(problems=[self.long_desc()], exitcode=2)


class Kept(ProjectCommand):
    """In front of a command of Scrapy: what nobody would read is a wrong call."""

    scrapys: ClassVar[type[ScrapyCommand]]
    fields: ClassVar[Fields] = {"printed": ("list of string", "what the command prints for a person")}

    @property
    def example(self) -> str:  # type: ignore[override]  # one a name
        """The command alone."""
        return self.name

    def short_desc(self) -> str:
        """Scrapy's."""
        return self.scrapys.short_desc(self)

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Raises: UsageError, ConfigError."""
        if KEPT[self.name]:
            problems = [problem for name in args if (problem := unknown_spider(self.settings, name))]
            self.load()
        else:
            problems = [f"unexpected {word!r}" for word in args]
        if problems:
            raise UsageError("; ".join(problems))
        printed = io.StringIO()
        try:
            with redirect_stdout(printed if opts.json else sys.stdout):
                self.scrapys.run(self, args, opts)
        except FileNotFoundError as error:
            problem = f"EDITOR={error.filename}: {error.strerror}; set EDITOR to an editor you have"
            return Answer(problems=[problem])
        return Answer({"printed": printed.getvalue().splitlines()}, exitcode=self.exitcode)


class _Modules:
    """Answers Python's question which modules lie in the folder of this package."""

    def iter_modules(self, prefix: str = "") -> list[tuple[str, bool]]:
        """Name, and is it a package?"""
        return [(prefix + name, False) for name in (*REFUSED, *KEPT)]


def _make(name: str) -> None:
    module = ModuleType(f"{__name__}.{name}")
    scrapys = import_module(f"scrapy.commands.{name}").Command if name in KEPT else ScrapyCommand
    values: dict[str, object] = {"__module__": module.__name__}
    if name in KEPT:
        values |= {"scrapys": scrapys, "requires_crawler_process": scrapys.requires_crawler_process}
    base = Kept if name in KEPT else Refused
    module.Command = type("Command", (base, scrapys), values)  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module


for _name in (*REFUSED, *KEPT):
    _make(_name)
__path__ = [__file__]
sys.path_importer_cache[__file__] = _Modules()  # type: ignore[assignment]  # what pkgutil asks of it
