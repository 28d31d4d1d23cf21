"""`scrapy dataset verify|select|exclude CORPUS_DIR`: is the corpus what its manifest says, and what is to be in it?"""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import _exclude, _index, _select
from crawler.config import ConfigError
from crawler.frontier.allowlist import AllowlistError
from crawler.runtime import load
from crawler.storage.errors import StorageError
from crawler.storage.place import Place
from crawler.storage.verify import Findings, finish_dead_writers, fix, verify

_OPERATIONS = {"select": _select.select_subset, "exclude": _exclude.exclude}


class Command(ScrapyCommand):
    """Checks hashes, counts, every line, and that each URL has one verdict; `--fix` leaves the newest."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """What follows the command's name."""
        return "\n  ".join(["verify [--fix] CORPUS_DIR", _select.SYNTAX, _exclude.SYNTAX, _index.SYNTAX])

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Check a corpus, compose a subset, withdraw domains or licences"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --fix."""
        super().add_options(parser)
        parser.add_argument("--fix", action="store_true", help="seal what crashed workers left, remove surplus records")
        _select.add_options(parser)
        _exclude.add_options(parser)
        _index.add_options(parser)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit code 1 where a file is damaged or a URL is there twice (and --fix was not given)."""
        if len(args) > 1 and args[0] == "index":
            self._index(args[1:], opts)
            return
        if len(args) != 2 or args[0] not in {"verify", *_OPERATIONS}:
            raise UsageError("expected: scrapy dataset verify|select|exclude CORPUS_DIR, or index PATH…")
        try:
            if args[0] == "verify":
                self._verify(Place(args[1]), fixing=opts.fix)
            else:
                self._operate(args[0], args[1], opts)
        except (StorageError, ConfigError, AllowlistError) as error:
            self._complain(getattr(error, "problems", [str(error)]))

    def _operate(self, name: str, corpus_dir: str, opts: argparse.Namespace) -> None:
        assert self.settings is not None
        self.settings.set("CORPUS_DIR", corpus_dir, priority="cmdline")
        config = load(self.settings)
        problem = _OPERATIONS[name](Place(corpus_dir, config.storage.spool_dir), opts, config)
        if problem:
            self._complain([problem])

    def _index(self, paths: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        if opts.into:
            self.settings.set("DEDUP_REDIS_URL", opts.into, priority="cmdline")
        try:
            problem = _index.index(paths, opts, load(self.settings))
        except ConfigError as error:
            self._complain(error.problems)
        else:
            self._complain([problem] if problem else [])

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
        self.exitcode = 1 if problems else self.exitcode
