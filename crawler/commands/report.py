"""`gristmill report CORPUS_DIR`: what a crawl has made, as text or as a page for a browser; its accounts, its gates."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.command import ProjectCommand
from crawler.number import number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.observe.report.accounts import Books
    from crawler.observe.report.duplicates import Bands

HTML_SAMPLES = 10
TOP = 20
OUT_OF_BOUNDS = 3
"""Exit code of `--check` where a gate does not hold."""
_SHOWING = ("html", "eu", "samples")
_ABOUT = ("domain", "url", "person")
_BY = ("domain", "batch", "day", "tier", "language")


class Command(ProjectCommand, ScrapyCommand):
    """Prints the summary, with `--samples` some documents; `--html` writes report.html and stats.json.

    `--by` prints the accounts of groups instead, `--check` compares them with gates.
    """

    example = "report --html corpus"
    usage = "[options] CORPUS_DIR …"
    fields: ClassVar[Fields] = {
        "summary": ("object or null", "what is in the corpus: the content of stats.json; null with --by and --check"),
        "accounts": (
            "object or null",
            "with --by: by, currency, uncounted, untold, shared, whole, groups (docs/report.md)",
        ),
        "gates": ("integer or null", "with --check: how many were compared; those that do not hold are the problems"),
        "trial": (
            "object or null",
            "with a gate `trial`: compared (by, kind, side, than, value, low, high, verdict; null where there is no "
            "earlier version), said (sentences)",
        ),
        "dossier": (
            "object or null",
            "with --domain, --url, --person: corpus, version, records, states, pages (of a person with found_in, "
            "standing and left, what is left to do), control_files, withdrawals, copies, unread",
        ),
        "corpora": ("list of object or null", "of several CORPUS_DIR: the counts of each, as in stats.json"),
        "together": (
            "object or null",
            "of several CORPUS_DIR: their sums; a page counts in each corpus that has it; fetched_bytes: null where a "
            "crawl was cut off before it noted them",
        ),
        "written": ("list of string", "files that were written"),
    }

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare what is shown, written or checked."""
        parser.add_argument("--html", action="store_true", help="write report.html and stats.json into CORPUS_DIR")
        parser.add_argument(
            "--eu", action="store_true", help="write eu_summary, croissant.json and a dataset card, too"
        )
        parser.add_argument("--samples", type=whole(0), default=None, metavar="N", help="show N kept, N rejected")
        parser.add_argument("--by", choices=_BY, help="show the accounts of each group instead (docs/report.md)")
        parser.add_argument("--format", choices=("table", "json", "csv"), default=None, help="of --by (table)")
        parser.add_argument(
            "--top", type=whole(1), default=None, metavar="N", help=f"groups of --by ({TOP} in a table, else all)"
        )
        parser.add_argument(
            "--check",
            default=None,
            metavar="GATES",
            help="exit with 3 where a figure is outside the bounds in GATES",
        )

        about = parser.add_argument_group("For the one who answers for it")
        about.add_argument(
            "--domain", metavar="D", help="what there is of a domain with its subdomains: one page to print"
        )
        about.add_argument("--url", metavar="U", help="the same of a page")
        about.add_argument("--person", metavar="NAME", help="the same of pages that name a person; - reads the name")
        about.add_argument("--out", metavar="FILE.html", help="where that page is written, outside the corpus")

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Exit code 1 where there is no corpus or a file is damaged; see `OUT_OF_BOUNDS`."""
        if not args:
            raise UsageError("expected a CORPUS_DIR, or several")
        _refuse_mixtures(opts)
        if len(args) > 1:
            return self._several(args, opts)
        if _asks_about(opts):
            return self._dossier(args[0], opts)
        if opts.check is not None or opts.by:
            self._tell_unsealed(args[0])
        if opts.check is not None:
            answer = self._check(args[0], Path(opts.check))
        elif opts.by:
            answer = self._accounts(args[0], opts)
        else:
            answer = self._summary(args[0], opts)
        if answer.facts:
            self._tell_pending(args[0])
        return answer

    @staticmethod
    def _tell_unsealed(corpus_dir: str) -> None:
        from crawler.operations.rewrite_report import tell_unsealed
        from crawler.storage.files.place import Place

        tell_unsealed(Place(corpus_dir))

    @staticmethod
    def _tell_pending(corpus_dir: str) -> None:
        from crawler.operations.rewrite_report import tell_pending
        from crawler.storage.files.place import Place

        tell_pending(Place(corpus_dir))

    def _summary(self, corpus_dir: str, opts: argparse.Namespace) -> Answer:
        from itertools import chain

        from crawler.frontier.operate import glance
        from crawler.observe import write as report
        from crawler.observe.console import answers_on
        from crawler.observe.report import balance, duplicates, requests, terminal

        samples = opts.samples if opts.samples is not None else (HTML_SAMPLES if opts.html else 0)
        found = report.read(corpus_dir, samples=samples, bands=self._bands(), config=self.load().report)
        if found.summary.state == "running":  # it may be paused, or have nothing to do: its frontier knows
            found = report.standing_by(found, glance(self.load(CORPUS_DIR=corpus_dir)))
        written = report.write(found) if opts.html else []
        written += report.write_provenance(corpus_dir) if opts.eu else []

        def show() -> None:
            console = answers_on()
            parts = chain(
                balance.sections(found.balance),
                duplicates.sections(found.duplicates),
                requests.sections(found.requests, found.books.whole.counts.get("requests", 0)),
            )
            terminal.show(found.summary, console, parts)
            if not opts.html:
                terminal.show_samples(found.samples, console)
            for path in written:
                console.print(f"written: {path}", soft_wrap=True, highlight=False)

        return Answer(_facts(summary=report.numbers(found), written=written), show)

    @staticmethod
    def _several(corpora: list[str], opts: argparse.Namespace) -> Answer:
        """Side by side. Raises: UsageError where an option is for one corpus, or one is given twice; StorageError."""
        from crawler.observe.console import answers_on
        from crawler.observe.report import several
        from crawler.observe.report.summary import summarise

        alone = [name for name in (*_SHOWING, "by", "check", *_ABOUT) if getattr(opts, name) not in (None, False)]
        if alone:
            raise UsageError(f"--{alone[0]} goes with one CORPUS_DIR: call the command for each, or merge them first")
        if again := next((name for name in corpora if corpora.count(name) > 1), ""):
            raise UsageError(f"{again} is given twice")
        found = [summarise(name, growing=True) for name in corpora]
        facts = _facts(corpora=[each.as_dict() for each in found], together=several.together(found))
        return Answer(facts, lambda: several.show(found, answers_on()))

    def _accounts(self, corpus_dir: str, opts: argparse.Namespace) -> Answer:
        from crawler.observe.console import answers_on
        from crawler.observe.report import table

        books = self._books(corpus_dir)
        top = opts.top or (TOP if opts.format in (None, "table") and not opts.json else None)
        facts = _facts(accounts=table.as_dict(books, opts.by, top))
        if opts.format in ("json", "csv"):
            text = (table.as_json if opts.format == "json" else table.as_csv)(books, opts.by, top)
            return Answer(facts, [text.removesuffix("\n")])

        def show() -> None:
            console = answers_on()
            shown, left_out = table.as_table(books, opts.by, top, console.width)
            console.print(shown)
            for note in table.notes(books, opts.by, top, left_out):
                console.print(note, style="dim", highlight=False)

        return Answer(facts, show)

    def _check(self, corpus_dir: str, path: Path) -> Answer:
        from crawler.observe.report import gates
        from crawler.observe.report.balance import balance_of
        from crawler.observe.report.summary import summarise
        from crawler.operations.common import reading
        from crawler.problems import InputError
        from crawler.storage.files.place import Place
        from crawler.trial import earlier

        try:
            given = gates.read(path)
        except InputError as error:
            return Answer(problems=error.problems, exitcode=2)
        config, books, said = self.load(), self._books(corpus_dir), list[str]()
        breaches = gates.check(given.bounds, books, balance_of(summarise(corpus_dir), books, config.report))
        problems, facts = [str(breach) for breach in breaches], _facts(gates=len(given))
        if given.trial is not None:
            with reading() as tell:
                found = earlier.check(Place(corpus_dir), given.trial, config, tell)
            problems, said, facts["trial"] = [*problems, *found.problems], found.said, found.as_dict()
        if problems:
            return Answer(facts, said, problems, OUT_OF_BOUNDS)
        gates_hold = f"{number_of(len(given), 'gate')} {'holds' if len(given) == 1 else 'hold'}"
        return Answer(facts, [*said, f"{gates_hold} for {corpus_dir}"])

    def _dossier(self, corpus_dir: str, opts: argparse.Namespace) -> Answer:
        """Exit code 1 where something could not be looked at. Raises: UsageError, InputError, StorageError."""
        from crawler.observe.dossier import webpage
        from crawler.observe.dossier.gather import Question, gather
        from crawler.operations.common import reading
        from crawler.seeds.seed_file import not_a_url
        from crawler.storage.files.place import Place
        from crawler.times import rfc3339
        from crawler.urls.canonicalize import canonicalize

        if not opts.out:
            raise UsageError("--out is missing: the file for the page, outside the corpus")
        person = sys.stdin.readline().strip() if opts.person == "-" else opts.person
        if opts.person == "-" and not person:
            raise UsageError("--person -: standard input has no name on its first line")
        if opts.url and canonicalize(opts.url) is None:
            raise UsageError(f"--url: {not_a_url(opts.url.strip())}")
        place, path = Place(corpus_dir), Path(opts.out)
        webpage.check_outside(place, path)
        try:
            with reading() as say:
                question = Question(opts.domain or "", opts.url or "", person or "")
                found = gather(place, question, progress=lambda name: say(f"reading {name}"))
        except ValueError:
            raise UsageError("--person: expected a name with letters") from None
        webpage.write(found, path, made_at=rfc3339(time.time()))
        facts = _facts(dossier=found.as_dict(), written=[str(path)])
        return Answer(facts, [f"{number_of(found.total, 'page')}; written: {path}"], found.unread)

    def _books(self, corpus_dir: str) -> Books:
        """The accounts, with what no entry of the manifest has read from the records. Raises: StorageError."""
        from crawler.observe.report import accounts
        from crawler.observe.report.costs import Prices
        from crawler.storage.files.place import Place

        config = self.load().report
        return accounts.read(Place(corpus_dir), Prices.of(config), accounts.targets_of(config), reread=True)

    def _bands(self) -> Bands:
        """The banding of the settings as they are now. Raises: ConfigError."""
        from crawler.observe.report.duplicates import Bands

        dedup = self.load().dedup
        return Bands(dedup.bands, dedup.rows, dedup.threshold)


def _facts(**found: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("summary", "accounts", "gates", "trial", "dossier", "corpora", "together"))
    return {**nothing, "written": [], **found}


def _asks_about(opts: argparse.Namespace) -> bool:
    return any(value is not None for value in (getattr(opts, name) for name in _ABOUT))


def _refuse_mixtures(opts: argparse.Namespace) -> None:
    """Raises: UsageError where an option would do nothing."""
    about = [name for name in _ABOUT if getattr(opts, name) is not None]
    others = [name for name in (*_SHOWING, "by", "check") if getattr(opts, name) not in (None, False)]
    if len(about) > 1 or (about and others):
        raise UsageError(f"--{about[0]} cannot be combined with --{(about[1:] + others)[0]}: call the command twice")
    if opts.out is not None and not about:
        raise UsageError("--out goes with --domain, --url or --person")
    if any(getattr(opts, name) == "" for name in about):
        raise UsageError(f"--{about[0]} is empty")
    shown = [name for name in _SHOWING if getattr(opts, name) not in (None, False)]
    alone = [name for name in ("by", "check") if getattr(opts, name) is not None]
    if len(alone) + bool(shown) > 1 and alone:
        raise UsageError(f"--{alone[0]} cannot be combined with --{(alone[1:] + shown)[0]}: call the command twice")
    if opts.by is None and (opts.format is not None or opts.top is not None):
        raise UsageError(f"--{'format' if opts.format is not None else 'top'} goes with --by")
