"""`scrapy seed`: put URLs, sitemaps or an allowlist into a frontier, from anywhere, while workers run or before."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.config import ConfigError
from crawler.frontier.seeding import seed_arguments
from crawler.runtime import load
from crawler.seeds.scope import ScopeError
from crawler.seeds.seed_file import SeedError
from crawler.server.errors import FrontierError


class Command(ScrapyCommand):
    """Exit code 0 only where every seed is in the frontier, now or before."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Shown by `scrapy seed -h`."""
        return "-a url=URL[,URL] | sitemap=URL[,URL] | seeds=FILE | allowlist=FILE [-a discovery=links|sitemap]"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Put seeds, sitemaps or an allowlist into a shared frontier"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """`-a` as in `scrapy crawl`."""
        super().add_options(parser)
        parser.add_argument("-a", dest="arguments", action="append", default=[], metavar="NAME=VALUE")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print what was added, known and refused."""
        assert self.settings is not None
        if args:
            raise UsageError(f"unexpected {args[0]!r}: arguments are given as -a NAME=VALUE")
        try:
            given = dict(item.partition("=")[::2] for item in opts.arguments)
            sown, warnings = seed_arguments(load(self.settings), given)
        except (SeedError, ConfigError) as error:
            self._complain(error.problems)
        except (ScopeError, FrontierError) as error:
            self._complain([str(error)])
        else:
            sys.stderr.writelines(f"warning: {warning}\n" for warning in warnings)
            sys.stdout.write(f"{sown}\n")
            if sown.refused:
                self._complain(sown.examples)

    def _complain(self, problems: list[str]) -> None:
        sys.stderr.writelines(f"error: {problem}\n" for problem in problems)
        self.exitcode = 1
