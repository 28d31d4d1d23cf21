"""`scrapy crawl`: the main job. Checks everything first, then runs the spider and answers with an honest exit code."""

from __future__ import annotations

import argparse
import gc
import logging
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from crawler.commands.command import ProjectCommand
from crawler.commands.interrupt import Interrupted, interruptible
from crawler.commands.spider_names import no_spider, unknown_spider
from crawler.commands.stopping import Stopping
from crawler.launch import failure_of, prepare
from crawler.observe.live.run_end import CRAWLED, facts
from crawler.operations.answer import Answer, Fields
from crawler.spiders.arguments import check_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

GC_THRESHOLD = 10_000
"""Containers made and not freed since the last look for cycles. The peak memory of a first crawl stays the same."""


class Command(ProjectCommand, ScrapyCrawl):
    """Scrapy's own `crawl`, with the checks before and the verdict after."""

    requires_crawler_process = True
    example = "crawl corpus -a url=https://example.org/ -s CRAWLER_CONTACT=https://example.org/bot"
    fields: ClassVar[Fields] = CRAWLED

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Crawl into a corpus (corpus) or run archives through the pipelines again (replay)"

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._made = self._stopping.crawler = super()._create_crawler(spidercls)
        return self._made

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one spider; exit code 0 only when it did what was asked. Raises: UsageError."""
        with self.answering(opts):
            self.tell(self.work(args, opts))

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """The end of the run; signals are heard in a crawl's own way. Raises: UsageError, InputError."""
        assert self.settings is not None
        if not args:
            raise UsageError(no_spider(self.settings, "crawl"))
        if len(args) > 1:
            raise UsageError(f"one spider at a time, not {' and '.join(args)}")
        if problem := unknown_spider(self.settings, args[0]):
            raise UsageError(problem)
        assert self.crawler_process is not None
        self._stopping = Stopping(self.crawler_process)
        with ExitStack() as stack:
            if check := check_of(get_spider_loader(self.settings).load(args[0])):
                with interruptible(then=self._stopping.hear):
                    prepare(self.settings, opts.spargs, check, stack)
                self._settle_in(self.settings)
            super(ProjectCommand, self).run(args, opts)
            self._stopping.is_over()
        return self._judge(opts, self._stopping.numbers)

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
        assert self.crawler_process is not None
        stats: dict[str, Any] = {}
        with suppress(RuntimeError):  # there are none where the crawler could not even be made
            stats = self._made.stats.get_stats() if self._made.stats else {}
        found = facts(self.load().crawl.corpus_dir, stats) if opts.json else {}
        failure = failure_of(stats, self.crawler_process.bootstrap_failed)
        if failure and heard and "finish_reason" not in stats:
            cut = Interrupted(heard[0])
            return Answer(found, problems=[f"{cut}: {failure}"], exitcode=cut.exitcode)
        return Answer(found, problems=[failure] if failure else [])
