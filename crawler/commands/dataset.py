"""`scrapy dataset verify|substrings|contaminated CORPUS_DIR`: is a corpus sound, and is there too much in it?"""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler import runtime
from crawler.batch import commands as batch
from crawler.config import Config, ConfigError
from crawler.stages._eval_read import EvalSetError
from crawler.storage.errors import StorageError
from crawler.storage.place import Place
from crawler.storage.verify import Findings, finish_dead_writers, fix, verify


class Command(ScrapyCommand):
    """`verify` checks hashes, counts, every line, each URL once (`--fix` leaves the newest); the others list or cut."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """What follows the command's name."""
        return " | ".join(["verify [--fix] CORPUS_DIR", *batch.SYNTAX.values()])

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Check a corpus; find repeated passages and evaluation sets in it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of all sub-commands."""
        super().add_options(parser)
        parser.add_argument("--fix", action="store_true", help="seal what crashed workers left, remove surplus records")
        batch.add_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit code 1 where a file is damaged or a URL is there twice (and --fix was not given)."""
        if len(args) != 2 or args[0] not in {"verify", *batch.SYNTAX}:
            raise UsageError("expected: scrapy dataset " + self.syntax())
        try:
            if args[0] == "verify":
                self._verify(Place(args[1]), fixing=opts.fix)
            else:
                batch.run(args[0], args[1], opts, lambda: self._config(opts))
        except ConfigError as error:
            self._complain(error.problems)
        except (StorageError, EvalSetError) as error:
            self._complain([str(error)])

    def _config(self, opts: argparse.Namespace) -> Config:
        assert self.settings is not None
        if opts.eval:
            self.settings.set("EVAL_SETS", opts.eval, "cmdline")
        return runtime.load(self.settings)

    def _verify(self, place: Place, *, fixing: bool) -> None:
        place.manifest()
        if fixing and (sealed := finish_dead_writers(place)):
            sys.stdout.write(f"sealed {sealed} file(s) of workers that had crashed\n")
        found = verify(place)
        lines = found.surplus + found.superseded
        if lines and fixing and not found.damage:
            sys.stdout.write(f"removed {fix(place, lines):,} surplus record(s)\n")
            found = verify(place)
        self._report(found)

    def _report(self, found: Findings) -> None:
        if found.surplus:
            found.damage.append(f"{len(found.surplus):,} surplus record(s): each URL may be there once; use --fix")
        if found.damage:
            self._complain(found.damage)
        else:
            sys.stdout.write(f"ok: {found.files:,} files, {found.documents:,} records, each URL exactly once\n")

    def _complain(self, problems: list[str]) -> None:
        for problem in problems:
            sys.stderr.write(f"error: {problem}\n")
        self.exitcode = 1
