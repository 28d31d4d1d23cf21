"""`gristmill seed`: put URLs, sitemaps or an allowlist into a frontier, from anywhere, while workers run or before."""

from __future__ import annotations

import argparse
import sys
from typing import ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import begin, options
from crawler.commands.command import ProjectCommand
from crawler.frontier.seeding import seed_server
from crawler.launch import unknown_profiles
from crawler.operations import seed_topic
from crawler.operations.answer import Answer, Fields
from crawler.problems import InputError
from crawler.scheduler.start_urls import key_in
from crawler.seeds.arguments import plan_of
from crawler.urls.tracking import extended_policy


class Command(ProjectCommand, ScrapyCommand):
    """Exit code 0 only where every seed is in the frontier, now or before."""

    example = "seed https://example.org/ --out corpus"
    usage = begin.SYNTAX
    offers = options.PLACE
    fields: ClassVar[Fields] = {
        "added": ("integer", "URLs that were added to the frontier"),
        "known": ("integer", "URLs that the frontier knew before"),
        "refused": ("object", "URLs that were refused, by reason"),
        "queued": ("integer", "seeds of a topic that wait for the workers of the crawl"),
    }

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """What is put in, as for a crawl."""
        begin.declare(parser)
        seed_topic.declare(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError."""
        super().process_options(args, opts)
        begin.read_pairs(opts)

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """What was added, known and refused; of a topic what the workers will look at."""
        if opts.topic is not None:
            return self._of_topic(args, opts)
        given = begin.arguments_of(args, opts)
        config = self.load()
        plan = plan_of(given, extended_policy(config.frontier.tracking_params))
        if problems := unknown_profiles(config, plan):
            raise InputError(problems)
        sys.stderr.writelines(f"warning: {warning}\n" for warning in plan.warnings)
        sown = seed_server(config, plan)
        facts = {"added": sown.added, "known": sown.seen, "refused": sown.refused, "queued": 0}
        return Answer(facts, [str(sown)], sown.examples)

    def _of_topic(self, args: list[str], opts: argparse.Namespace) -> Answer:
        if given := sorted(begin.arguments_of(args, opts)):
            raise UsageError(f"--topic: goes without {', '.join(given)}; call the command once for each")
        config = self.load()
        return seed_topic.pour(config, key_in(self.settings, "corpus", config.crawl.crawl_id), opts)
