"""`gristmill quarantine`: domains whose pages say the same little everywhere, and their release by hand."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import options
from crawler.commands.command import ProjectCommand
from crawler.dataset.held import Choice, release, waiting
from crawler.dataset.rewrite import corpus_place
from crawler.frontier.client import Frontier
from crawler.frontier.operate import ActionError, with_frontier
from crawler.loading import program
from crawler.number import number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.rewrite_report import tell_outdated
from crawler.pipelines.yields import rule_of
from crawler.quarantine.history import Fallen, SharedYields
from crawler.quarantine.releases import note_release
from crawler.storage.files.errors import AtWorkError

if TYPE_CHECKING:
    from crawler.config import Config


class Command(ProjectCommand, ScrapyCommand):
    """Exit code 0 where the list was read, or the domain was released with all that was held."""

    example = "quarantine -s CORPUS_DIR=corpus"
    usage = "[--release DOMAIN]"
    fields: ClassVar[Fields] = {
        "released": ("string or null", "the domain of --release"),
        "pages": ("integer", "held pages of it that are kept from now on"),
        "quarantined": (
            "list of object",
            "domain, shape of URL, usual share of text in its bytes, and recent when it fell",
        ),
    }
    offers = options.PLACE

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare --release."""
        parser.add_argument(
            "--release", metavar="DOMAIN", help="end it, keep what was held, and measure the yield of the domain afresh"
        )

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """The list, or what was released."""
        if args:
            raise UsageError(f"expected nothing but --release DOMAIN, got {args[0]!r}")
        config = self.load()
        rule = rule_of(config.extraction)

        async def answer(frontier: Frontier) -> Answer:
            yields = SharedYields(rule, frontier)
            said, pages = await _release(yields, opts.release, config) if opts.release else ("", 0)
            found = await yields.quarantined()
            rows = [{"domain": domain} | asdict(shape) for domain, shapes in found.items() for shape in shapes]
            return Answer({"released": opts.release, "pages": pages, "quarantined": rows}, [said or _listed(found)])

        return with_frontier(config, answer)


async def _release(yields: SharedYields, domain: str, config: Config) -> tuple[str, int]:
    """In the frontier, then in the corpus, where a replay and the report find it, with all its held pages.

    Answers what to say, and how many pages. Raises: ActionError where there is nothing to release, or a worker is at
    work on the corpus.
    """
    with corpus_place(config.crawl.corpus_dir, config.storage.spool_dir) as place:
        choice = Choice("yield", domains=frozenset({domain}))
        fell = domain in await yields.quarantined()
        held = any(waiting(place, choice))
        if not fell and not held and not await yields.knows(domain):
            raise ActionError(
                f"{domain!r} has no history here; `{program()} quarantine` lists the domains in quarantine"
            )
        note_release(place, domain, time.time())  # first: whoever is killed here can do it again
        await yields.release(domain)
        try:
            pages = release(place, choice, now=time.time(), reason="released from quarantine").released if held else 0
        except AtWorkError as error:
            raise ActionError(
                f"{domain} is out of quarantine, but its held pages are not released yet: {error}; "
                f"run `{program()} quarantine --release {domain}` again then"
            ) from error
        if pages:
            tell_outdated(place)
        left = sum(1 for _ in waiting(place, choice)) if held else 0
    state = "is released" if fell or held else "is not in quarantine; its usual yield is measured afresh"
    refused = (
        f"; {left:,} not kept, because the corpus refuses what was withdrawn (`{program()} dataset log`)"
        if left
        else ""
    )
    return f"{domain} {state}: {number_of(pages, 'held page is', 'held pages are')} kept from now on{refused}", pages


def _listed(found: dict[str, list[Fallen]]) -> str:
    if not found:
        return "no domain is in quarantine"
    return "\n".join(
        f"{domain}: {100 * fell.recent:.1f} % of the bytes of {fell.shape} were text when it fell, "
        f"{100 * fell.usual:.1f} % before"
        for domain, shapes in found.items()
        for fell in shapes
    )
