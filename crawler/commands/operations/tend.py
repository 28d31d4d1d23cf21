"""The operations of `scrapy frontier`: what narrows an action, and its answer on standard output."""

from __future__ import annotations

import argparse
import sys

from scrapy.exceptions import UsageError

from crawler.commands.numbers import whole
from crawler.commands.operation import Load, Operation
from crawler.frontier.operate import REQUEUE, Order, act, status, with_frontier


def _nothing(parser: argparse.ArgumentParser) -> None:
    """The whole crawl, and no choice."""


def _one_domain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--domain", default="", metavar="D", help="this domain only; default: the whole crawl")


def _looks(parser: argparse.ArgumentParser) -> None:
    _one_domain(parser)
    parser.add_argument("--top", type=whole(0), metavar="N", help="domains with the longest queues; 0 = all")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def _which_urls(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "what", nargs="?", choices=REQUEUE, help="URLs on hold, waiting for a later try, given up, or parked"
    )
    which.add_argument("--parked", action="store_true", help="the same as parked")
    _one_domain(parser)
    parser.add_argument("--reason", default="", metavar="R", help="a part of the latest reason")


def _what_goes(parser: argparse.ArgumentParser) -> None:
    domain = parser.add_mutually_exclusive_group(required=True)
    domain.add_argument("named", nargs="?", default="", metavar="DOMAIN", help="the domain to forget")
    domain.add_argument("--domain", default="", metavar="D", help="the same")
    parser.add_argument("--yes", action="store_true", help="yes, forget these URLs for good")


def _status(opts: argparse.Namespace, load: Load) -> list[str]:
    """Raises: ConfigError, FrontierError, ActionError."""
    sys.stdout.write(status(load(), opts.domain, opts.top, as_json=opts.json) + "\n")
    return []


def _requeue(opts: argparse.Namespace, load: Load) -> list[str]:
    """Raises: UsageError where it is not said which URLs; ConfigError, FrontierError, ActionError."""
    if not (opts.what or opts.parked):
        raise UsageError(f"which URLs shall be tried again? One of: {', '.join(REQUEUE)}")
    return _act(opts, load)


def _act(opts: argparse.Namespace, load: Load) -> list[str]:
    """Raises: ConfigError, FrontierError, ActionError."""
    given = vars(opts)
    domain = given.get("named") or given.get("domain") or ""
    words = {name: given[name] for name in ("what", "reason", "yes") if name in given}
    if given.get("parked"):
        words["what"] = "parked"
    order = Order(opts.operation, domain=domain, **words)
    sys.stdout.write(with_frontier(load(), lambda frontier: act(frontier, order)) + "\n")
    return []


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=whole(0), default=9401, metavar="N", help="default 9401; 0 = any that is free")
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="address to listen on; default 127.0.0.1")


def _export(opts: argparse.Namespace, load: Load) -> list[str]:
    """Until it is stopped. Raises: ConfigError, FrontierError."""
    from crawler.observe.metrics.endpoint import EndpointError, check_address
    from crawler.observe.metrics.export import export

    def told(address: str) -> None:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()

    config = load()
    try:
        check_address(opts.host, opts.port, "--port")
        with_frontier(config, lambda frontier: export(frontier, opts.host, opts.port, told))
    except EndpointError as error:
        return [str(error)]
    return []


OPERATIONS = {
    "status": Operation(
        "how far the crawl is: totals, rate, domains with the longest queues", "status --top 20", _looks, _status
    ),
    "export": Operation(
        "serve the figures of the status to Prometheus, until it is stopped", "export --port 9401", _where, _export
    ),
    "pause": Operation("workers finish what they have and wait", "pause --domain example.org", _one_domain, _act),
    "resume": Operation("what was paused goes on", "resume --domain example.org", _one_domain, _act),
    "drain": Operation("workers finish what they have and end", "drain", _nothing, _act),
    "requeue": Operation(
        "URLs on hold, waiting, given up or parked are tried again",
        "requeue dead --reason timeout",
        _which_urls,
        _requeue,
    ),
    "purge": Operation(
        "forget the queue of a domain and take nothing new of it", "purge example.org --yes", _what_goes, _act
    ),
}
