"""`scrapy dataset index PATH…`: put the texts of a corpus you already have into the duplicate index."""

from __future__ import annotations

import argparse
import sys

from crawler.commands._operation import Load, Operation
from crawler.server.errors import FrontierError

SYNTAX = "index [--field NAME] [--id NAME] [--into REDIS_URL] PATH…"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare --field, --id, --into."""
    parser.add_argument("--field", default="text", metavar="NAME", help="index: field or column of the text (text)")
    parser.add_argument("--id", default=None, metavar="NAME", help="index: field that names a text; default file:line")
    parser.add_argument("--into", default=None, metavar="URL", help="index: server; default as for a crawl")


def index(paths: list[str], opts: argparse.Namespace, load_settings: Load) -> list[str]:
    """Load, show how far it is, print what became of the texts. Raises: ConfigError."""
    from rich.console import Console

    from crawler.dedup.index import DedupError
    from crawler.dedup.loading import Columns, load

    config = load_settings(**({"DEDUP_REDIS_URL": opts.into} if opts.into else {}))
    with Console(stderr=True).status("reading …") as status:
        try:
            columns = Columns(opts.field, opts.id)
            loaded = load(config, paths, columns, progress=lambda done: status.update(f"{done.texts:,} texts"))
        except (DedupError, FrontierError) as error:
            return [str(error)]
    sys.stdout.write(f"{loaded}\n")
    return []


OPERATION = Operation(SYNTAX, index, many=True)
