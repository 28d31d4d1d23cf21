"""The operations of `gristmill frontier`: what narrows an action, and its answer on standard output."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from crawler.frontier.operate import REQUEUE, Order, act, status, with_frontier
from crawler.frontier.status_table import ROWS, render
from crawler.operations.answer import Answer, Fields
from crawler.operations.declared import Load, Operation, Work, WrongCall, by_name
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.frontier.overview import Overview
    from crawler.observe.standing import Standing


def _nothing(parser: argparse.ArgumentParser) -> None:
    """The whole crawl, and no choice."""


def _one_domain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--domain", default="", metavar="D", help="this domain only; default: the whole crawl")


def _looks(parser: argparse.ArgumentParser) -> None:
    _one_domain(parser)
    parser.add_argument("--top", type=whole(0), metavar="N", help="domains with the longest queues; 0 = all")


def _which_urls(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    what = "all that failed, given up or on hold in doubt; URLs on hold, waiting for a later try, given up, or parked"
    which.add_argument("what", nargs="?", choices=REQUEUE, help=what)
    which.add_argument("--parked", action="store_true", help="the same as parked")
    _one_domain(parser)
    parser.add_argument("--reason", default="", metavar="R", help="a part of the latest reason")


def _what_goes(parser: argparse.ArgumentParser) -> None:
    domain = parser.add_mutually_exclusive_group(required=True)
    domain.add_argument("named", nargs="?", default="", metavar="DOMAIN", help="the domain to purge")
    domain.add_argument("--domain", default="", metavar="D", help="the same")
    parser.add_argument("--yes", action="store_true", help="confirm: these URLs are removed for good")


def _status(opts: argparse.Namespace, load: Load) -> Answer:
    """Raises: ConfigError, FrontierError, ActionError."""
    config = load()
    view = status(config, opts.domain, opts.top if opts.top is not None else 0 if opts.json else ROWS)
    stands, recorded = _standing(config, view)
    facts = view.as_json() | {"state": stands.state, "standing": stands.sentence, "recorded": recorded}
    said = stands.sentence
    finished = view.counts.done  # what was given up has a record that is not final
    if recorded is not None and not view.workers and recorded < finished:
        said += (
            f" {recorded:,} of the {finished:,} finished are recorded in {config.crawl.corpus_dir}: "
            "other machines have the rest, or one was lost with its folder."
        )
    return Answer(facts, [render(view, one=bool(opts.domain), said=said)])


def _standing(config: Config, view: Overview) -> tuple[Standing, int | None]:
    """By the corpus too, where it is a folder here; who looks after a frontier need not have the keys of a store.

    With it how many done URLs this folder accounts for, None where it is no corpus of the crawl.
    """
    from crawler.observe.standing import accounted, standing, standing_of
    from crawler.storage.files.errors import StorageError
    from crawler.storage.files.place import Place

    if "://" in config.crawl.corpus_dir:
        return standing_of(view), None
    try:
        place = Place(config.crawl.corpus_dir)
        manifest = place.manifest()
    except StorageError:
        return standing_of(view), None
    if view.crawl not in manifest["crawls"]:
        return standing_of(view), None
    return standing(place, manifest, view), accounted(manifest)


def _requeue(opts: argparse.Namespace, load: Load) -> Answer:
    """Raises: WrongCall where it is not said which URLs; ConfigError, FrontierError, ActionError."""
    if not (opts.what or opts.parked):
        raise WrongCall(f"name the URLs to try again, one of: {', '.join(REQUEUE)}")
    return _act(opts, load)


def _act(opts: argparse.Namespace, load: Load) -> Answer:
    """Raises: ConfigError, FrontierError, ActionError."""
    given = vars(opts)
    domain = given.get("named") or given.get("domain") or ""
    words = {name: given[name] for name in ("what", "reason", "yes") if name in given}
    if given.get("parked"):
        words["what"] = "parked"
    order = Order(opts.operation, domain=domain, **words)
    said = with_frontier(load(), lambda frontier: act(frontier, order))
    return Answer({"done": said}, [said])


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=whole(0), default=9401, metavar="N", help="default 9401; 0 = any that is free")
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="address to listen on; default 127.0.0.1")


def _export(opts: argparse.Namespace, load: Load) -> Answer | None:
    """Until it is stopped. Raises: ConfigError, FrontierError."""
    from crawler.observe.metrics.endpoint import EndpointError, check_address
    from crawler.observe.metrics.export import export

    def told(address: str) -> None:
        opts.tell(Answer({"address": address}, [address]))

    config = load()
    try:
        check_address(opts.host, opts.port, "--port")
        with_frontier(config, lambda frontier: export(frontier, opts.host, opts.port, told))
    except EndpointError as error:
        return Answer(problems=[str(error)])
    return None


_DONE: Fields = {"done": ("string", "what was done, in a sentence")}
_STATUS: Fields = {
    "crawl": ("string", "CRAWL_ID"),
    "counts": ("object", "queued, leased, held, done, dead, seen and others, of all domains"),
    "fetchable": ("integer", "runnable work: the figure to scale workers by"),
    "rate": ("number", "URLs finished a second over the last minute, by all workers"),
    "oldest_ready": ("number or null", "seconds that the longest waiting domain has been ready"),
    "workers": ("integer", "workers that show signs of life"),
    "proxies": (
        "list of object",
        "each of EGRESS_PROXIES: name (host:port), requests, failures, away (workers for which "
        "it does not serve), workers",
    ),
    "workers_seen": ("list of object", "each worker: name, silent (seconds since its last sign of life), alive"),
    "left": ("integer", "URLs leased to workers that show no sign of life"),
    "left_for": ("number", "seconds until all of them are queued again; 0: at the next request of a worker"),
    "crawls": ("list of object", "other crawls in this database of the server: name, workers that show signs of life"),
    "state": ("string", "empty, running, cut_off, stopped, ended or finished"),
    "standing": ("string", "the same as a sentence, which report and explore say, too"),
    "recorded": (
        "integer or null",
        "URLs that this CORPUS_DIR has records of, with sitemap files; null: it is no corpus of the crawl, or records "
        "were taken out",
    ),
    "hosts": ("integer", "domains with URLs"),
    "parked": ("integer", "fetched URLs that wait for their next visit"),
    "next_visit_in": ("number or null", "seconds until the first of them is due"),
    "scopes": ("list of object", "each domain, those with the longest queues first"),
    "reasons": ("object", "the latest reasons of the first URLs that were given up, with their number"),
    "barren": ("list of object", "kinds of links that are parked because they brought nothing new"),
}
OPERATIONS = by_name(
    Operation(
        "status",
        "how far the crawl is: totals, rate, domains with the longest queues",
        Work("status --top 20", _looks, _status, _STATUS),
    ),
    Operation(
        "export",
        "serve the figures of the status to Prometheus, until it is stopped",
        Work("export --port 9401", _where, _export, {"address": ("string", "where the metrics are")}),
    ),
    Operation(
        "pause", "workers finish what they have and wait", Work("pause --domain example.org", _one_domain, _act, _DONE)
    ),
    Operation("resume", "resume what was paused", Work("resume --domain example.org", _one_domain, _act, _DONE)),
    Operation("drain", "workers finish what they have and end", Work("drain", _nothing, _act, _DONE)),
    Operation(
        "requeue",
        "URLs on hold, waiting, given up or parked are tried again",
        Work("requeue dead --reason timeout", _which_urls, _requeue, _DONE),
    ),
    Operation(
        "purge",
        "empty the queue of a domain and refuse its new URLs",
        Work("purge example.org --yes", _what_goes, _act, _DONE),
    ),
)
