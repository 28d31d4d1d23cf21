"""`demo`: crawl the small web that comes along, and check that each of its pages ended as its file declares."""

from __future__ import annotations

import argparse
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.command import ProjectCommand
from crawler.operations.answer import Answer, Fields


class Command(ProjectCommand, ScrapyCommand):
    """Exit code 0: the crawl went well and every page ended as it should."""

    example = "demo"
    usage = "[--out FOLDER] [--second | --resume]"
    fields: ClassVar[Fields] = {"corpus": ("string", "the folder of the corpus")}

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """The options of the demo."""
        parser.add_argument("--out", type=Path, default=_demo().CORPUS, metavar="FOLDER", help="corpus; demo-corpus")
        _demo().declare(parser)

    def work(self, args: list[str], opts: argparse.Namespace) -> Answer:
        """Raises: UsageError."""
        if args:
            raise UsageError(f"unexpected {args[0]!r}")
        extra = [word for pair in opts.set for word in ("-s", pair)]
        try:
            code = _demo().run(opts.out, extra, twice=opts.second, resume=opts.resume)
        except _demo().DemoError as error:
            return Answer(problems=[str(error)])
        return Answer({"corpus": str(opts.out)}, exitcode=code)


def _demo() -> Any:
    """The demo: a package beside this one in the repository, a part of it in an installed wheel (setup.py)."""
    return import_module("crawler.demo.run" if find_spec("crawler.demo") else "demo.run")
