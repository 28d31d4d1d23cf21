"""`gristmill diagnose`: why are documents not kept, and which threshold is it? Corpus, archive or live sample."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands import live_sample
from crawler.commands.command import ProjectCommand
from crawler.operations.answer import Answer, Fields
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.observe.diagnose.diagnosis import Diagnosis

SAMPLE = 200


class Command(ProjectCommand, ScrapyCommand):
    """Exit code 0 where there is a diagnosis; 1 where there is none, with the reason."""

    requires_crawler_process = True
    example = "diagnose corpus"
    usage = "[options] CORPUS_DIR | --archive … | --live …"
    fields: ClassVar[Fields] = {
        "source": ("string", "where the records come from"),
        "total": ("integer", "documents that were read"),
        "kept": ("integer", "those that were kept"),
        "held": ("integer", "those on hold: not judged yet"),
        "by_numbers": ("integer", "rejected documents that a threshold decided"),
        "reasons": ("list of object", "each reason: name, documents, examples"),
        "distributions": ("list of object", "each score of kept and rejected documents"),
        "levers": ("list of object", "each threshold and the documents it rejects, the one that rejects most first"),
        "near_misses": ("list of object", "rejected documents that were nearest to a threshold"),
        "kept_examples": ("list of object", "some kept documents"),
        "notes": ("list of string", "notes on the figures"),
        "advice": ("list of string", "advice, in sentences"),
    }

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Where the documents come from, how many, and how the answer is shown."""
        parser.add_argument("--archive", metavar="GLOB_OR_URL", help="judge a sample of archived pages; no network")
        parser.add_argument(
            "--live", action="append", metavar="NAME=VALUE", default=[],
            help="crawl a sample: url=, sitemap=, seeds= or allowlist= as for a crawl",
        )  # fmt: skip
        parser.add_argument(
            "--sample", type=whole(0), default=SAMPLE, metavar="N", help=f"documents; {SAMPLE}, 0 = all"
        )
        parser.add_argument("--seed", type=int, metavar="S", help="another seed, another choice; 0")
        parser.add_argument("--examples", type=whole(0), default=2, metavar="N", help="passages of each reason; 2")
        parser.add_argument("--html", metavar="FILE", help="write a page for a browser")

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Gather the records, read them, show what they say."""
        if len(args) + bool(opts.archive) + bool(opts.live) != 1:
            raise UsageError("expected one of: CORPUS_DIR, --archive GLOB_OR_URL, --live url=URL")
        from crawler.observe.diagnose import webpage

        if opts.live and opts.sample == 0:
            raise UsageError("--sample 0: a live sample ends after a number of documents, from 1 up")
        if opts.seed is not None and (opts.live or opts.sample == 0):
            raise UsageError("--seed chooses among documents: it goes with --sample N of a corpus or an archive")
        found = self._diagnosis(args, opts)
        if not found.total:
            return Answer(problems=[f"{found.source}: no document to diagnose"])
        if opts.html:
            try:
                Path(opts.html).write_text(webpage.page(found), encoding="utf-8")
            except OSError as error:
                why = f"--html {opts.html}: cannot be written ({error.strerror}); give another file"
                return Answer(problems=[why])
        return Answer(found.as_dict(), lambda: self._show(found, opts.html))

    def _diagnosis(self, args: list[str], opts: argparse.Namespace) -> Diagnosis:
        from crawler.observe.diagnose.diagnosis import diagnose
        from crawler.observe.diagnose.sources import Choice, from_archive, from_corpus

        choice = Choice(opts.sample, opts.seed or 0)
        with ExitStack() as stack:
            if opts.live:
                source = "a live sample of " + ", ".join(opts.live)
                sampled, config = live_sample.live(self.settings, self.crawler_process, opts.live, opts.sample, stack)
            elif opts.archive:
                config, source = live_sample.checked(self.settings), opts.archive
                sampled = from_archive(opts.archive, choice, config)
            else:
                config, source = self.load(), args[0]
                sampled = from_corpus(args[0], choice)
            found = diagnose(
                sampled.records, config, source=source, examples=opts.examples, judged_by=sampled.judged_by
            )
            found.notes += sampled.notes
            return found

    @staticmethod
    def _show(found: Diagnosis, written: str | None) -> None:
        from crawler.observe.console import answers_on
        from crawler.observe.diagnose import view

        console = answers_on(highlight=False)
        view.show(found, console)
        if written:
            console.print(f"written: {written}", soft_wrap=True)
