"""`gristmill quarantine`: domains whose pages give far less text than they used to, and their release by hand."""

from __future__ import annotations

import argparse
import shlex
import time
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import options
from crawler.commands.command import ProjectCommand
from crawler.frontier.client import Frontier
from crawler.frontier.operate import ActionError, with_frontier
from crawler.loading import program
from crawler.operations.answer import Answer, Fields
from crawler.pipelines.yields import rule_of
from crawler.quarantine.history import SharedYields
from crawler.quarantine.releases import note_release
from crawler.storage.files.place import ARCHIVE, Place

if TYPE_CHECKING:
    from crawler.config import Config


class Command(ProjectCommand, ScrapyCommand):
    """Exit code 0 where the list was read, or the domain was released."""

    example = "quarantine -s CORPUS_DIR=corpus"
    usage = "[--release DOMAIN]"
    fields: ClassVar[Fields] = {
        "released": ("string or null", "the domain of --release"),
        "quarantined": (
            "list of object",
            "domain, usual share of text in its bytes, and recent when it fell",
        ),
    }
    offers = options.PLACE

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare --release."""
        parser.add_argument("--release", metavar="DOMAIN", help="release this domain: its usual yield is measured anew")

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """The list, or what was released."""
        if args:
            raise UsageError(f"expected nothing but --release DOMAIN, got {args[0]!r}")
        config = self.load()
        rule = rule_of(config.extraction)

        async def answer(frontier: Frontier) -> Answer:
            yields = SharedYields(rule, frontier)
            said = await _release(yields, opts.release, config) if opts.release else None
            found = await yields.quarantined()
            shares = {domain: tuple(map(float, text.split())) for domain, text in found.items()}
            rows = [{"domain": name, "usual": usual, "recent": now} for name, (usual, now) in shares.items()]
            return Answer({"released": opts.release, "quarantined": rows}, [said or _listed(shares)])

        return with_frontier(config, answer)


async def _release(yields: SharedYields, domain: str, config: Config) -> str:
    """In the frontier, and in the corpus, where a replay finds it. Raises: ActionError where it has no history."""
    place = Place(config.crawl.corpus_dir, config.storage.spool_dir)
    place.manifest()
    fell = domain in await yields.quarantined()
    if not await yields.release(domain):
        raise ActionError(f"{domain!r} has no history here; `{program()} quarantine` lists the domains in quarantine")
    note_release(place, domain, time.time())
    state = "is released" if fell else "is not in quarantine; its usual yield is measured anew"
    return (
        f"{domain} {state}. Pages that were set aside come back with a replay into a new folder: "
        f"{program()} crawl replay -a archive={shlex.quote(place.path_of(ARCHIVE))} -s CORPUS_DIR=NEW_DIR; "
        "or, once they are due, with -s RECRAWL=1"
    )


def _listed(found: dict[str, tuple[float, ...]]) -> str:
    if not found:
        return "no domain is in quarantine"
    return "\n".join(
        f"{domain}: {100 * recent:.1f} % of the bytes were text when it fell, {100 * usual:.1f} % before"
        for domain, (usual, recent) in found.items()
    )
