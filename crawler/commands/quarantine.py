"""`scrapy quarantine`: domains whose pages give far less text than they used to, and their release by hand."""

from __future__ import annotations

import argparse
import sys

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.command import ProjectCommand
from crawler.frontier.client import Frontier
from crawler.frontier.operate import ActionError, with_frontier
from crawler.pipelines.yields import rule_of
from crawler.quarantine.history import SharedYields


class Command(ProjectCommand, ScrapyCommand):
    """Exit code 0 where the list was read, or the domain was released."""

    example = "quarantine -s CORPUS_DIR=corpus"

    def syntax(self) -> str:
        """What follows the command's name."""
        return "[--release DOMAIN]"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Show domains whose pages suddenly give little text; release one by hand"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare --release."""
        parser.add_argument("--release", metavar="DOMAIN", help="what it gives from now on is what is usual")

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the list, or what was released."""
        if args:
            raise UsageError(f"expected nothing but --release DOMAIN, got {args[0]!r}")
        config = self.load()
        rule = rule_of(config.extraction)

        async def answer(frontier: Frontier) -> str:
            yields = SharedYields(rule, frontier)
            return await _release(yields, opts.release) if opts.release else _listed(await yields.quarantined())

        sys.stdout.write(with_frontier(config, answer) + "\n")


async def _release(yields: SharedYields, domain: str) -> str:
    """Raises: ActionError where the domain has no history."""
    if not await yields.release(domain):
        raise ActionError(f"{domain!r} has no history here; `scrapy quarantine` lists the domains that are set aside")
    return f"{domain} is released; replay the archive, or crawl again, for the pages that were set aside"


def _listed(found: dict[str, str]) -> str:
    if not found:
        return "no domain is in quarantine"
    pairs = {domain: tuple(map(float, said.split())) for domain, said in found.items()}
    return "\n".join(
        f"{domain}: {100 * recent:.1f} % of the bytes were text when it fell, {100 * usual:.1f} % before"
        for domain, (usual, recent) in pairs.items()
    )
