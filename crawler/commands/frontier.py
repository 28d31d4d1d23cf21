"""`scrapy frontier`: look after a running crawl, from any machine that reaches its server."""

from __future__ import annotations

import argparse
import json
import sys

from scrapy.commands import ScrapyCommand

from crawler.config import ConfigError
from crawler.frontier.errors import FrontierError
from crawler.frontier.overview import act, overview, with_frontier
from crawler.runtime import load


class Command(ScrapyCommand):
    """Exit code 0 only where the action was done."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Shown by `scrapy frontier -h`."""
        return "[--json] status | pause | resume | drain | requeue held|later|dead | purge SCOPE"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Look after a running crawl: status, pause, resume, drain, requeue, purge"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """`--json` for machines."""
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print the status as one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the answer of the action."""
        assert self.settings is not None
        action, what = (*args, "status", None)[:2] if not args else (args[0], " ".join(args[1:]) or None)
        try:
            config = load(self.settings)
            if action == "status" and what is None:
                view = with_frontier(config, overview)
                answer = json.dumps(view.as_json()) if opts.json else str(view)
            else:
                answer = with_frontier(config, lambda frontier: act(frontier, str(action), what))
        except ConfigError as error:
            self._complain(error.problems)
        except (FrontierError, ValueError) as error:
            self._complain([str(error)])
        else:
            sys.stdout.write(answer + "\n")

    def _complain(self, problems: list[str]) -> None:
        sys.stderr.writelines(f"error: {problem}\n" for problem in problems)
        self.exitcode = 1
