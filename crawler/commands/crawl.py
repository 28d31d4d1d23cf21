"""`crawl`: the main job. Checks everything first, then runs the spider and answers with an honest exit code."""

from __future__ import annotations

# Scrapy makes a deprecated class in each of these by `inspect.stack()`, which looks at every module for every frame of
# an import: 0.05 s this early, 0.15 s where the download handler is loaded. `tls` first: it is imported by the other.
import scrapy.core.downloader.tls  # isort: skip
import scrapy.core.downloader.contextfactory  # isort: skip  # noqa: F401
import argparse
import gc
import logging
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from crawler.commands import begin, options
from crawler.commands.command import ProjectCommand
from crawler.commands.interrupt import Interrupted, interruptible
from crawler.commands.stopping import Stopping
from crawler.launch import failure_of, prepare
from crawler.observe.live.run_end import CRAWLED, facts
from crawler.operations.answer import Answer, Fields
from crawler.operations.numbers import whole
from crawler.spiders.arguments import check_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

GC_THRESHOLD = 10_000
"""Containers made and not freed since the last look for cycles. The peak memory of a first crawl stays the same."""


class Command(ProjectCommand, ScrapyCrawl):
    """Scrapy's own `crawl`, with the checks before and the verdict after. URLs are for the spider `corpus`."""

    requires_crawler_process = True
    example = "crawl https://example.org/ --limit 2000 --contact https://example.org/bot"
    usage = f"{begin.SYNTAX} | SPIDER [-a NAME=VALUE …]"
    offers = tuple(options.OPTIONS)
    fields: ClassVar[Fields] = CRAWLED

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Seeds, and where the crawl ends."""
        begin.declare(parser)
        begin.declare_allow_local(parser)
        declare_limit(parser)
        declare_retry_failed(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError."""
        super().process_options(args, opts)
        if opts.output or opts.overwrite_output:
            raise UsageError(
                "-o and -O are Scrapy's: a crawl writes a corpus (--out); `dataset export` makes other files"
            )
        take_limit(self.settings, opts)

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._made = self._stopping.crawler = super()._create_crawler(spidercls)
        return self._made

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one spider; exit code 0 only when it did what was asked. Raises: UsageError."""
        with self.answering(opts):
            self.tell(self.work(args, opts))

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """The end of the run; signals are heard in a crawl's own way. Raises: UsageError, InputError."""
        return self.crawl(*begin.spider_and_arguments(self.settings, args, opts), opts)

    def crawl(self, spider: str, arguments: dict[str, str], opts: argparse.Namespace) -> Answer:
        """Check and run the spider, as `work` says."""
        self._stopping = Stopping(self.crawler_process)
        with ExitStack() as stack:
            if check := check_of(get_spider_loader(self.settings).load(spider)):
                with interruptible(then=self._stopping.hear):
                    prepare(self.settings, arguments, check, stack, retry=self._retries(opts, spider))
                self._settle_in(self.settings)
            self._start(spider, arguments)
            self._stopping.is_over()
        return self._judge(opts, self._stopping.numbers)

    def _retries(self, opts: argparse.Namespace, spider: str) -> bool:
        """Raises: UsageError where the spider has no frontier in which something could have failed."""
        asked = bool(vars(opts).get("retry_failed"))
        kind = get_spider_loader(self.settings).load(spider)
        if asked and "SCHEDULER" in (kind.custom_settings or {}):
            raise UsageError(f"--retry-failed: {spider} has no frontier; the same command reads what failed again")
        return asked

    def _start(self, spider: str, arguments: dict[str, str]) -> None:
        super(ProjectCommand, self).run([spider], argparse.Namespace(spargs=arguments))

    @staticmethod
    def _settle_in(settings: BaseSettings) -> None:
        """What many pages need: a fifth of the time that a page takes which has not changed.

        The garbage collector leaves alone what was loaded, which stays, and comes after 10,000 new objects instead of
        700: a few hundred pages' worth. Scrapy's three lines a page are not made where nobody is to see them.
        """
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD, 10, 10)
        logging.getLogger("scrapy.core").setLevel(settings.get("LOG_LEVEL"))

    def _judge(self, opts: argparse.Namespace, heard: list[int]) -> Answer:
        """`heard`: signals that came. One that cut the crawl off, or came before it had begun, is the exit code."""
        stats: dict[str, Any] = {}
        with suppress(RuntimeError):  # there are none where the crawler could not even be made
            stats = self._made.stats.get_stats() if self._made.stats else {}
        found = facts(self.load().crawl.corpus_dir, stats) if opts.json else {}
        failure = failure_of(stats, self.crawler_process.bootstrap_failed)
        if failure and heard and "finish_reason" not in stats:
            cut = Interrupted(heard[0])
            return Answer(found, problems=[f"{cut}: {failure}"], exitcode=cut.exitcode)
        return Answer(found, problems=[failure] if failure else [])


def declare_limit(parser: argparse.ArgumentParser) -> None:
    """Add --limit."""
    parser.add_argument("--limit", type=whole(1), metavar="N",
                        help="end this run after it kept N documents; the same command continues")  # fmt: skip


def take_limit(settings: BaseSettings | None, opts: argparse.Namespace) -> None:
    """Scrapy counts the items that passed every pipeline, and those are the kept documents. Raises: UsageError."""
    assert settings is not None
    if opts.limit is not None:
        options.refuse_another(opts, "CLOSESPIDER_ITEMCOUNT", "--limit", opts.limit)
        settings.set("CLOSESPIDER_ITEMCOUNT", opts.limit, priority="cmdline")


def declare_retry_failed(parser: argparse.ArgumentParser) -> None:
    """Add --retry-failed."""
    parser.add_argument("--retry-failed", action="store_true",
                        help="first `gristmill frontier requeue failed`: try again what failed before")  # fmt: skip
