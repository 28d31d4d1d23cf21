"""`gristmill optout URL…`: may this page be fetched and kept, and who says so? It keeps nothing."""

from __future__ import annotations

import argparse
import dataclasses
import time
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import begin, options
from crawler.commands.command import ProjectCommand
from crawler.commands.interrupt import die_at_once
from crawler.launch import check_identity
from crawler.operations.answer import Answer, Fields
from crawler.policy import explain
from crawler.policy.facts import user_agent
from crawler.problems import InputError
from crawler.spiders.inquiry import Inquiry, InquirySpider, inquiry_about
from crawler.urls.canonicalize import host_of
from crawler.version import __version__

if TYPE_CHECKING:
    from crawler.config import Config


class Command(ProjectCommand, ScrapyCommand):
    """Exit code 0: every URL may be fetched and kept. 1: one may not, or not now. 2: the question was no question."""

    requires_crawler_process = True
    fields: ClassVar[Fields] = {
        "asked_as": ("string", "User-Agent of the requests"),
        "profile": ("string", "OPTOUT_PROFILE"),
        "asked_at": ("string", "when, RFC 3339"),
        "surveys": ("list of object", "what each host of --domain says"),
        "explanations": (
            "list of object",
            "of each URL: answer (yes, no, hold), because, reason, files and others",
        ),
    }
    example = "optout https://example.org/ --contact https://example.org/bot"
    usage = "URL [URL…] | --domain DOMAIN[,DOMAIN]"
    offers = options.ASKING

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare --domain."""
        parser.add_argument(
            "--domain", metavar="D", help="what a host says, without fetching a page; https, unless given as http://D"
        )
        begin.declare_allow_local(parser)

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Ask, print, and answer with the exit code."""
        if bool(args) == bool(opts.domain):
            raise UsageError("expected URLs, or --domain with a domain")
        try:
            inquiry = inquiry_about(args, opts.domain)
            if opts.allow_local:
                begin.open_local(self.settings, map(host_of, [*inquiry.urls, *inquiry.hosts]))
            config = check_identity(self.settings, [*inquiry.urls, *inquiry.hosts])
        except InputError as error:
            return Answer(problems=error.problems, exitcode=2)
        from crawler.observe.console import on_stderr

        self.crawler_process.crawl(InquirySpider, name="optout", inquiry=inquiry)
        waiting = f"sending requests, {config.frontier.delay_seconds:g} s between requests to one host …"
        with on_stderr().status(waiting), die_at_once():
            self.crawler_process.start(install_signal_handlers=False)
        return self._report(inquiry, config)

    @staticmethod
    def _report(inquiry: Inquiry, config: Config) -> Answer:
        from crawler.observe import answers
        from crawler.observe.console import answers_on

        given = [item.answer for item in inquiry.surveys] + [item.answer for item in inquiry.explanations]
        problems: list[str] = []
        code = int(any(answer is not explain.Answer.YES for answer in given))
        if len(given) < len(inquiry.urls) + len(inquiry.hosts):
            problems, code = ["not every URL has an answer; see the messages above"], 2
        agent = user_agent(config.crawl.product_token, __version__, config.crawl.contact)
        facts = {"asked_as": agent, "profile": config.policy.optout_profile, "asked_at": explain.moment(time.time())}
        lists = {name: [dataclasses.asdict(item) for item in getattr(inquiry, name)] for name in _LISTS}

        def show() -> None:
            console = answers_on(highlight=False)
            for survey in inquiry.surveys:
                answers.show_survey(survey, console)
            for explanation in inquiry.explanations:
                answers.show_explanation(explanation, console)
            answers.show_identity(agent, facts["profile"], facts["asked_at"], console)

        return Answer(facts | lists, show, problems, code)


_LISTS = ("surveys", "explanations")
