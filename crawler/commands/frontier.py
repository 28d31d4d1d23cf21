"""`scrapy frontier`: look after a running crawl, from any machine that reaches its server."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand

from crawler.config import ConfigError
from crawler.frontier.operate import Order, act, status, with_frontier
from crawler.runtime import load
from crawler.server.errors import FrontierError


class Command(ScrapyCommand):
    """Exit code 0 only where the action was done."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """Shown by `scrapy frontier -h`."""
        return "status | pause | resume | drain | requeue held|later|dead | purge [--domain D] [--reason R] [--yes] …"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Look after a running crawl: status, pause, resume, drain, requeue, purge"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """What narrows an action, and how the status is shown."""
        super().add_options(parser)
        parser.add_argument("--domain", default="", metavar="D", help="one domain: of every action but drain")
        parser.add_argument("--reason", default="", metavar="R", help="of requeue: a part of the latest reason")
        parser.add_argument("--yes", action="store_true", help="of purge: yes, forget these URLs")
        parser.add_argument("--top", type=int, default=None, metavar="N", help="of status: longest queues; 0 = all")
        parser.add_argument("--json", action="store_true", help="of status: one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the answer of the action."""
        assert self.settings is not None
        action, what, domain = args[0] if args else "status", " ".join(args[1:]), opts.domain
        if action == "purge" and what and not domain:
            what, domain = "", what
        looks = opts.json or opts.top is not None
        order = Order(action, what, domain, opts.reason, opts.yes, looks)
        try:
            order.check()
            config = load(self.settings)
            if action == "status":
                answer = status(config, domain, opts.top, as_json=opts.json)
            else:
                answer = with_frontier(config, lambda frontier: act(frontier, order))
        except ConfigError as error:
            self._complain(error.problems)
        except (FrontierError, ValueError, LookupError) as error:
            self._complain([str(error)])
        else:
            sys.stdout.write(answer + "\n")

    def _complain(self, problems: list[str]) -> None:
        sys.stderr.writelines(f"error: {problem}\n" for problem in problems)
        self.exitcode = 1
