"""`gristmill shell [URL]`: Scrapy's console, whose `fetch` asks as the crawl asks. No frontier, no corpus."""

from __future__ import annotations

import argparse
import io
import signal
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import begin, options
from crawler.commands.command import ProjectCommand
from crawler.commands.interrupt import Interrupted, die_at_once
from crawler.launch import check_identity
from crawler.loading import program
from crawler.operations.answer import Answer, Fields
from crawler.urls.canonicalize import address, host_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Command(ProjectCommand, ScrapyCommand):
    """In the place of Scrapy's own, whose engine would open frontier and corpus and wait for a page for ever."""

    requires_crawler_process = True
    prints_plain = False
    example = "shell https://example.org/ --contact https://example.org/bot"
    usage = "[-c CODE] [--no-redirect] [URL]"
    offers = options.ASKING

    fields: ClassVar[Fields] = {"printed": ("string", "what the code of -c printed, its value last")}

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options; not Scrapy's --spider: the spiders of this project need a frontier."""
        parser.add_argument("-c", dest="code", help="evaluate the code in the shell, print the result and exit")
        parser.add_argument("--no-redirect", action="store_true", help="say where a redirect leads, do not follow it")
        begin.declare_allow_local(parser)

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Raises: UsageError, InputError."""
        found = address(args[0]) if args else None
        url = found and found.asked
        if len(args) > 1 or (args and url is None):
            raise UsageError("expected one http or https URL, such as https://example.org/page, or none")
        if opts.json and not opts.code:
            raise UsageError(f"a console has no answer in JSON: give the code with -c, or use {program()} fetch --json")
        if opts.allow_local:
            begin.open_local(self.settings, [host_of(url)] if url else [])
        check_identity(self.settings, [url] if url else [])
        try:
            return self._open(url, opts)
        except Interrupted:
            raise
        except KeyboardInterrupt:
            raise Interrupted(signal.SIGINT) from None

    def _open(self, url: str | None, opts: argparse.Namespace) -> Answer:
        from crawler.commands.console import PageShell

        shell = PageShell(self._engine_of_its_own(), code=opts.code)
        if url:
            shell.fetch(url, redirect=not opts.no_redirect)
        if url and opts.code and shell.response is None:
            return Answer(exitcode=1)
        printed = io.StringIO()
        try:
            with die_at_once(), redirect_stdout(printed if opts.code else sys.stdout):
                shell.begin()  # the console takes an interruption for a line that was given up
        except Exception as error:
            if not opts.code:
                raise
            return Answer(problems=[f"-c {opts.code}: {type(error).__name__}: {error}"])
        text = printed.getvalue()
        return Answer({"printed": text}, text.splitlines())

    def _engine_of_its_own(self) -> Crawler:
        """A crawler whose engine runs in a thread, as Scrapy's own shell starts it."""
        from scrapy.commands.shell import Command as ScrapyShell

        from crawler.commands.console import ShellSpider

        process: Any = self.crawler_process
        crawler: Crawler = process._create_crawler(ShellSpider)
        crawler._apply_settings()
        starter = ScrapyShell()
        starter.crawler_process = process
        starter._init_with_reactor(crawler)
        return crawler
