"""`gristmill dataset index PATH…`: put the texts of a corpus you already have into the duplicate index."""

from __future__ import annotations

import argparse
import dataclasses

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading
from crawler.operations.declared import Load, Work


def declare(parser: argparse.ArgumentParser) -> None:
    """Files and folders, --field, --id, --into."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="JSON lines (.jsonl, .gz, .zst), Parquet, or a folder")
    parser.add_argument("--field", default="text", metavar="NAME", help="field or column of the text (text)")
    parser.add_argument("--id", default=None, metavar="NAME", help="field that names a text; default file:line")
    parser.add_argument("--into", default=None, metavar="REDIS_URL", help="server; default as for a crawl")


def index(opts: argparse.Namespace, load_settings: Load) -> Answer:
    """Load, show how far it is, print what became of the texts. Raises: ConfigError, DedupError, FrontierError."""
    from crawler.dataset.living import refused_by
    from crawler.dataset.registry.derived import folders_around
    from crawler.dedup.loading import Columns, files_of, load
    from crawler.storage.files.place import Place

    config = load_settings(**({"DEDUP_REDIS_URL": opts.into} if opts.into else {}))
    with reading() as show_status:
        columns = Columns(opts.field, opts.id)
        refused = refused_by(map(Place, folders_around(files_of(opts.paths)).values()))
        loaded = load(
            config,
            opts.paths,
            columns,
            progress=lambda done: show_status(number_of(done.texts, "text")),
            hides=(lambda record: isinstance(record, dict) and refused.of_record(record) is not None)
            if refused
            else None,
        )
    none = f"no text in {', '.join(opts.paths)}: nothing was put into the index; name the field with --field"
    problems = [none] if loaded.texts == loaded.empty else []
    return Answer(dataclasses.asdict(loaded), [str(loaded)], problems)


WORK = Work(
    "index old-corpus.jsonl -s CORPUS_DIR=corpus",
    declare,
    index,
    {
        "texts": ("integer", "texts that were read"),
        "claimed": ("integer", "texts in the index now, by this call or an earlier one"),
        "exact": ("integer", "texts that are the same as another"),
        "near": ("integer", "texts that are nearly so"),
        "empty": ("integer", "records without a text"),
        "withdrawn": ("integer", "withdrawn records, which were left out"),
    },
)
