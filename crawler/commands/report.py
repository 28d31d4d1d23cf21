"""`scrapy report CORPUS_DIR`: what a crawl has made, as text or as a page for a browser."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.command import ProjectCommand
from crawler.commands.numbers import whole

if TYPE_CHECKING:
    from crawler.observe.report.duplicates import Bands

HTML_SAMPLES = 10


class Command(ProjectCommand, ScrapyCommand):
    """Prints the summary, with `--samples` some documents; `--html` writes report.html and stats.json."""

    example = "report --html corpus"

    def syntax(self) -> str:
        """What follows the command's name."""
        return "[options] CORPUS_DIR"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Show what is in a corpus: kept, rejected and why, domains, languages, samples"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare --html, --eu and --samples."""
        parser.add_argument("--html", action="store_true", help="write report.html and stats.json into CORPUS_DIR")
        parser.add_argument(
            "--eu", action="store_true", help="write eu_summary, croissant.json and a dataset card, too"
        )
        parser.add_argument("--samples", type=whole(0), default=None, metavar="N", help="show N kept, N rejected")

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit code 1 where there is no corpus or a file is damaged."""
        from itertools import chain

        from rich.console import Console

        from crawler.observe.report import duplicates, report, requests, terminal

        if len(args) != 1:
            raise UsageError("expected one CORPUS_DIR")
        samples = opts.samples if opts.samples is not None else (HTML_SAMPLES if opts.html else 0)
        found = report.read(args[0], samples=samples, bands=self._bands())
        written = report.write(found) if opts.html else []
        written += report.write_provenance(args[0]) if opts.eu else []
        console = Console(soft_wrap=False)
        parts = chain(duplicates.sections(found.duplicates), requests.sections(found.requests))
        terminal.show(found.summary, console, parts)
        if not opts.html:
            terminal.show_samples(found.samples, console)
        for path in written:
            console.print(f"written: {path}", soft_wrap=True, highlight=False)

    def _bands(self) -> Bands:
        """The banding of the settings as they are now. Raises: ConfigError."""
        from crawler.observe.report.duplicates import Bands

        dedup = self.load().dedup
        return Bands(dedup.bands, dedup.rows, dedup.threshold)
