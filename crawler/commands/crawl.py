"""`scrapy crawl`: the main job. Checks everything first, then runs the spider and answers with an honest exit code."""

from __future__ import annotations

import argparse
import gc
import logging
import sys
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from crawler.commands.interrupt import Interrupted, interruptible, leave
from crawler.commands.spider_names import no_spider, unknown_spider
from crawler.commands.stopping import Stopping
from crawler.commands.strict import Strict
from crawler.launch import failure_of, prepare
from crawler.problems import InputError
from crawler.spiders.arguments import check_of
from crawler.storage.files.errors import denied

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

EXAMPLE = "crawl corpus -a url=https://example.org/ -s CRAWLER_CONTACT=https://example.org/bot"
GC_THRESHOLD = 10_000
"""Containers made and not freed since the last look for cycles. The peak memory of a first crawl stays the same."""


class Command(Strict, ScrapyCrawl):
    """Scrapy's own `crawl`, with the checks before and the verdict after."""

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Crawl into a corpus (corpus) or run archives through the pipelines again (replay)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's, and an example."""
        super().add_options(parser)
        parser.epilog = f"Example: scrapy {EXAMPLE}"

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._made = self._stopping.crawler = super()._create_crawler(spidercls)
        return self._made

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one spider; exit code 0 only when it did what was asked. Raises: UsageError."""
        assert self.settings is not None
        if not args:
            raise UsageError(no_spider(self.settings, "crawl"))
        if len(args) > 1:
            raise UsageError(f"one spider at a time, not {' and '.join(args)}")
        if problem := unknown_spider(self.settings, args[0]):
            raise UsageError(problem)
        assert self.crawler_process is not None
        self._stopping = Stopping(self.crawler_process)
        check = check_of(get_spider_loader(self.settings).load(args[0]))
        if check is None:
            super().run(args, opts)
            return
        with ExitStack() as stack:
            try:
                with interruptible(then=self._stopping.hear):
                    prepare(self.settings, opts.spargs, check, stack)
            except InputError as error:
                self._complain(error.problems)
                return
            except PermissionError as error:
                self._complain([denied(error)])
                return
            except Interrupted as error:
                stack.close()
                leave(error)
            self._settle_in(self.settings)
            super().run(args, opts)
            self._stopping.is_over()
            self._judge(self._stopping.numbers)

    @staticmethod
    def _settle_in(settings: BaseSettings) -> None:
        """What many pages need: a fifth of the time that a page takes which has not changed.

        The garbage collector leaves alone what was loaded, which stays, and comes after 10,000 new objects instead of
        700: a few hundred pages' worth. Scrapy's three lines a page are not made where nobody is to see them.
        """
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD, 10, 10)
        logging.getLogger("scrapy.core").setLevel(settings.get("LOG_LEVEL"))

    def _judge(self, heard: list[int]) -> None:
        """`heard`: signals that came. One that cut the crawl off, or came before it had begun, is the exit code."""
        assert self.crawler_process is not None
        stats: dict[str, Any] = {}
        with suppress(RuntimeError):  # there are none where the crawler could not even be made
            stats = self._made.stats.get_stats() if self._made.stats else {}
        failure = failure_of(stats, self.crawler_process.bootstrap_failed)
        if failure and heard and "finish_reason" not in stats:
            self._complain([f"{Interrupted(heard[0])}: {failure}"])
            self.exitcode = Interrupted(heard[0]).exitcode
        elif failure:
            self._complain([failure])

    def _complain(self, problems: list[str]) -> None:
        for problem in problems:
            sys.stderr.write(f"error: {problem}\n")
        self.exitcode = 1
