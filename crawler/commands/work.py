"""`gristmill work`: several workers of one crawl on this machine, under one progress view and one exit code."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.log import configure_logging

from crawler.commands import begin, options
from crawler.commands.command import ProjectCommand
from crawler.config.crawl import has_password
from crawler.config.environment import PREFIX
from crawler.config.limits import Limits
from crawler.loading import program
from crawler.observe.live.run_end import CRAWLED
from crawler.operations.answer import Answer, Fields
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.supervise.plan import Plan
    from crawler.supervise.worker import Worker


class Command(ProjectCommand, ScrapyCommand):
    """Checks once what `gristmill crawl` checks, then runs it several times and restarts what dies."""

    example = "work https://example.org/ --workers 4 --contact https://example.org/bot"
    usage = f"{begin.SYNTAX} | SPIDER [-a NAME=VALUE …]"
    offers = tuple(options.OPTIONS)

    fields: ClassVar[Fields] = CRAWLED

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """--workers, and where the crawl begins."""
        parser.add_argument("--workers", type=whole(1), metavar="N", help="worker processes (default: by the cores)")
        begin.declare(parser)
        begin.declare_allow_local(parser)
        parser.add_argument("--retry-failed", action="store_true",
                            help="first `gristmill frontier requeue failed`: try again what failed before")  # fmt: skip

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raises: UsageError."""
        super().process_options(args, opts)
        begin.read_pairs(opts)

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Exit code 0 where every worker did what was asked. Raises: UsageError, InputError."""
        from crawler.launch import prepare
        from crawler.pool.cores import usable_cores
        from crawler.spiders.arguments import check_of
        from crawler.supervise.plan import plan

        spider, arguments = begin.spider_and_arguments(self.settings, args, opts, "work")
        kind = get_spider_loader(self.settings).load(spider)
        check = check_of(kind)
        if check is None or "SCHEDULER" in (kind.custom_settings or {}):
            raise UsageError(f"{spider} has no frontier that workers could share: run {program()} crawl {spider}, "
                             "which uses all cores (STAGE_WORKERS)")  # fmt: skip
        given = self.settings.getint("STAGE_WORKERS") if _is_given(self.settings, "STAGE_WORKERS") else None
        share = plan(usable_cores(), opts.workers, None if given is None or given < 0 else given)
        with ExitStack() as stack:
            config = prepare(self.settings, arguments, check, stack, retry=opts.retry_failed)
            configure_logging(self.settings)
            workers, failed = asyncio.run(self._run(config, spider, arguments, share))
        return self._end(config, workers, failed)

    async def _run(
        self, config: Config, spider: str, arguments: dict[str, str], share: Plan
    ) -> tuple[list[Worker], list[str]]:
        """The workers, each at its end, and the names of those that failed."""
        from crawler.observe.console import on_stderr
        from crawler.observe.live.progress import Progress
        from crawler.supervise.supervisor import supervise
        from crawler.supervise.worker import Worker

        names = worker_names(config.crawl.worker_id, share.workers)
        is_live = True if config.crawl.progress == "on" else None
        limits = Limits.of(self.settings, share.workers)
        progress = Progress(on_stderr(), clock=time.monotonic, live=is_live, limits=limits)

        def say(name: str, line: str) -> None:
            progress.print(f"{name} | {line}")

        secrets = {f"{PREFIX}{key}": str(value) for key, value in self._typed(secret=True).items()}
        workers = [
            Worker(
                name,
                lambda fd, name=name: self._command(spider, arguments, share, name, fd),  # type: ignore[misc]
                say,
                secrets,
                limits=Limits.of(self.settings),
            )
            for name in names
        ]
        shown = config.crawl.progress != "off"
        if shown:
            progress.start()
        try:
            return workers, await supervise(workers, progress.tick if shown else lambda _: None)
        finally:
            progress.stop()

    def _command(self, spider: str, arguments: dict[str, str], share: Plan, name: str, descriptor: int) -> list[str]:
        """What is typed for one worker: the settings of this command line, and those that are the supervisor's."""
        port = self.settings.getint("METRICS_PORT")
        number = int(name.rpartition("-")[2])
        own: dict[str, Any] = {"WORKER_ID": name, "STAGE_WORKERS": share.stage_workers, "PROGRESS": "off",
                               "PROGRESS_FD": descriptor, "METRICS_PORT": port and port + number - 1}  # fmt: skip
        module = "crawler.commands.gristmill" if program() == "gristmill" else "scrapy"
        command = [sys.executable, "-m", module, "crawl", spider]
        for key, value in arguments.items():
            command += ["-a", f"{key}={value}"]
        for key, value in {**self._typed(secret=False), **own}.items():
            command += ["-s", f"{key}={value}"]
        return command

    def _typed(self, *, secret: bool) -> dict[str, Any]:
        """The settings of this command line. secret: those with a password, which no child has on its own."""
        typed = {key: value for key, value in self.settings.items() if _is_typed(self.settings, key)}
        return {key: value for key, value in typed.items() if has_password(str(value)) is secret}

    @staticmethod
    def _end(config: Config, workers: list[Worker], failed: list[str]) -> Answer:
        """The summary that ends `gristmill crawl`, of all workers together."""
        from crawler.observe.console import answers_on
        from crawler.observe.live import run_end
        from crawler.observe.report import balance, terminal
        from crawler.observe.report.summary import summarise
        from crawler.supervise.supervisor import ends, together

        counters = together(workers)
        stats = run_end.together(ends(workers), counters.kept, counters.rejected)

        def show() -> None:
            if config.crawl.progress != "off":
                summary = summarise(config.crawl.corpus_dir)
                found = balance.read(summary, config.report)
                terminal.show(summary, answers_on(), chain(run_end.sections(stats), balance.sections(found)))

        problems = [f"{', '.join(failed)} failed; see the messages above"] if failed else []
        return Answer(run_end.facts(config.crawl.corpus_dir, stats), show, problems)


def worker_names(given: str, count: int) -> list[str]:
    """Names of the workers: WORKER_ID or its default, with a number."""
    from crawler.config.crawl import default_worker_id

    return [f"{given or default_worker_id()}-{number}" for number in range(1, count + 1)]


def _is_typed(settings: Any, name: str) -> bool:
    return (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]


def _is_given(settings: Any, name: str) -> bool:
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]
