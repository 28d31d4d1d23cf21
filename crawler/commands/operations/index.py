"""`scrapy dataset index PATH…`: put the texts of a corpus you already have into the duplicate index."""

from __future__ import annotations

import argparse
import sys

from crawler.commands.operation import Load, Operation


def declare(parser: argparse.ArgumentParser) -> None:
    """Files and folders, --field, --id, --into."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="JSON lines (.jsonl, .gz, .zst), Parquet, or a folder")
    parser.add_argument("--field", default="text", metavar="NAME", help="field or column of the text (text)")
    parser.add_argument("--id", default=None, metavar="NAME", help="field that names a text; default file:line")
    parser.add_argument("--into", default=None, metavar="REDIS_URL", help="server; default as for a crawl")


def index(opts: argparse.Namespace, load_settings: Load) -> list[str]:
    """Load, show how far it is, print what became of the texts. Raises: ConfigError, DedupError, FrontierError."""
    from rich.console import Console

    from crawler.dedup.loading import Columns, load

    config = load_settings(**({"DEDUP_REDIS_URL": opts.into} if opts.into else {}))
    with Console(stderr=True).status("reading …") as status:
        columns = Columns(opts.field, opts.id)
        loaded = load(config, opts.paths, columns, progress=lambda done: status.update(f"{done.texts:,} texts"))
    sys.stdout.write(f"{loaded}\n")
    if loaded.texts == loaded.empty:
        return [f"no text in {', '.join(opts.paths)}: nothing was put into the index; name the field with --field"]
    return []


OPERATION = Operation(
    "compare new pages with texts you already have: put them into the duplicate index",
    "index old-corpus.jsonl -s CORPUS_DIR=corpus",
    declare,
    index,
)
