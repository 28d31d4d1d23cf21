"""Where a crawl begins, on a command line: URLs, or --seeds, --sitemap, …; `-a NAME=VALUE` says the same.

`--allow-local` opens what is asked for on this machine or in a private network, and nothing else.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.exceptions import UsageError
from scrapy.utils.conf import arglist_to_dict

from crawler.commands.spider_names import no_spider, unknown_spider
from crawler.config import ConfigError
from crawler.downloader.named_hosts import closed_addresses
from crawler.problems import InputError
from crawler.runtime import load
from crawler.seeds.arguments import plan_of

if TYPE_CHECKING:
    from scrapy.settings import Settings

SYNTAX = "URL… [options]"
_SOURCES = {
    "seeds": ("FILE", "crawl the URLs of a file, one a line, and what they link to on their hosts"),
    "sitemap": ("URL[,URL]", "crawl the pages that sitemaps list"),
    "allowlist": ("FILE", "crawl the domains of a YAML file, with licence, paths and delay each"),
    "api": ("FILE", "crawl the records of a source of JSON that a YAML file describes"),
    "oai": ("URL[,URL]", "crawl the pages that records of OAI-PMH repositories name; ?set=…&from=… selects"),
    "oai_page": ("URL", "address of a record's page, with {id} in it, where the records of --oai name none"),
    "sitemap_since": ("DAY", "of listed pages, leave out those whose sitemap gives an earlier day (2026-01-31)"),
    "discovery": ("HOW", "links or sitemap: follow the links of what a sitemap lists, or do not"),
}


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options that name seeds, and `-a`."""
    group = parser.add_argument_group("Where the crawl begins")
    for name, (metavar, meaning) in _SOURCES.items():
        group.add_argument(f"--{name.replace('_', '-')}", metavar=metavar, help=meaning)
    group.add_argument(
        "--below",
        action="store_const",
        const="yes",
        help="stay below the folder of each URL: https://example.org/docs/a leads to /docs/ alone",
    )
    group.add_argument("-a", dest="spargs", action="append", default=[], metavar="NAME=VALUE",
                       help="the same as an argument of the spider, such as url=https://example.org/")  # fmt: skip


def declare_allow_local(parser: argparse.ArgumentParser) -> None:
    """Add --allow-local."""
    parser.add_argument("--allow-local", action="store_true",
                        help="open the named hosts on this machine or in a private network")  # fmt: skip


def read_pairs(opts: argparse.Namespace) -> None:
    """Make a mapping of the `-a NAME=VALUE`. Raises: UsageError."""
    try:
        opts.spargs = arglist_to_dict(opts.spargs)
    except ValueError:
        raise UsageError("Invalid -a value, use -a NAME=VALUE", print_help=False) from None


def spider_and_arguments(
    settings: Settings, words: list[str], opts: argparse.Namespace, command: str = "crawl"
) -> tuple[str, dict[str, str]]:
    """The spider's name and its arguments: of a spider that is named, else of `corpus`, which begins at the URLs.

    Opens what --allow-local says. Raises: UsageError.
    """
    named = len(words) > 0 and all(not set(word) & set(":/.") for word in words)
    if named and len(words) > 1:
        raise UsageError(f"one spider at a time, not {' and '.join(words)}")
    if named and (problem := unknown_spider(settings, words[0])):
        raise UsageError(problem)
    arguments = arguments_of([] if named else words, opts)
    if not words and not arguments:
        raise UsageError(no_spider(settings, command))
    if opts.allow_local:
        _open_named_by(settings, arguments)
    return (words[0] if named else "corpus"), arguments


def arguments_of(urls: list[str], opts: argparse.Namespace) -> dict[str, str]:
    """The spider's arguments: `-a`, with what the URLs and options say. Raises: UsageError for what is said twice."""
    given: dict[str, str] = opts.spargs
    typed = {name: value for name in (*_SOURCES, "below") if (value := getattr(opts, name)) is not None}
    typed |= {"url": ",".join(urls)} if urls else {}
    if twice := sorted(set(typed) & set(given)):
        raise UsageError(f"-a {twice[0]}=… repeats what is given without -a")
    return given | typed


def _open_named_by(settings: Settings, arguments: dict[str, str]) -> None:
    if not arguments:  # what a frontier knows may come from anybody who reaches its server
        raise UsageError(
            "--allow-local opens the hosts that this command names, and it names none; seeds that are already in the "
            "frontier may be named again (they keep their verdicts), as in gristmill crawl http://127.0.0.8:8790/ "
            "--allow-local; or say -s NETWORK_ALLOW=127.0.0.8/32 -s NETWORK_PORTS=80,443,8790"
        )
    with suppress(InputError):  # the checks of the crawl tell all problems together
        scope = plan_of(arguments).scope
        open_local(settings, {*scope.link_hosts, *scope.listed_hosts, *(entry.domain for entry in scope.entries)})


def open_local(settings: Settings, hosts: Iterable[str]) -> None:
    """Set NETWORK_ALLOW and NETWORK_PORTS to what they are and the hosts' own addresses that no outsider reaches.

    hosts: as in a URL, with a port where it is not the usual one. Raises: UsageError where no host has such an address.
    """
    parts = [urlsplit(f"//{host}") for host in hosts]
    found = sorted({address for part in parts if part.hostname for address in closed_addresses(part.hostname)})
    if not found:
        raise UsageError("--allow-local: none of these hosts is on this machine or in a private network")
    try:
        policy = load(settings).policy
    except ConfigError as error:  # told by the checks of the command, as what is not wrong is opened all the same
        if error.rest is None or any(problem.startswith("NETWORK_") for problem in error.problems):
            return
        policy = error.rest.policy
    ports = {*policy.network_ports, *(part.port for part in parts if part.port)}
    settings.set("NETWORK_ALLOW", ",".join([*policy.network_allow, *found]), priority="cmdline")
    settings.set("NETWORK_PORTS", ",".join(map(str, sorted(ports))), priority="cmdline")
