"""What `fetch` and `view` have in common: one URL, asked for through guard and policy."""

from __future__ import annotations

import argparse
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from scrapy import Request
from scrapy.exceptions import UsageError

from crawler.commands import begin, options
from crawler.commands.command import ProjectCommand
from crawler.commands.interrupt import die_at_once
from crawler.launch import check_identity
from crawler.operations.answer import Answer
from crawler.urls.canonicalize import address, host_of

if TYPE_CHECKING:
    from scrapy.http import Response


class PageCommand(ProjectCommand):
    """Exit code 0: shown. 1: the page may not be fetched, or not now; standard error says why."""

    requires_crawler_process = True

    offers: ClassVar[tuple[str, ...]] = options.ASKING
    usage = "[options] URL"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare --no-redirect and --allow-local."""
        parser.add_argument("--no-redirect", action="store_true", help="say where a redirect leads, do not follow it")
        begin.declare_allow_local(parser)

    @abstractmethod
    def show(self, response: Response, opts: argparse.Namespace) -> Answer:
        """What the person sees."""

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Ask once. Raises: UsageError, InputError."""
        from crawler.spiders.single_page import Page, PageSpider

        found = address(args[0]) if len(args) == 1 else None
        if found is None:
            raise UsageError("expected one http or https URL, such as https://example.org/page")
        url = found.asked
        if opts.allow_local:
            begin.open_local(self.settings, [host_of(url)])
        check_identity(self.settings, [url])
        page = Page(Request(url, meta={"verbatim_url": True}), follow=not opts.no_redirect)
        self.crawler_process.crawl(PageSpider, name=self.name, page=page)
        with die_at_once():
            self.crawler_process.start(install_signal_handlers=False)
        if page.response is None:
            return Answer(problems=[page.refusal or "the page was not requested; see the messages above"])
        return self.show(page.response, opts)
