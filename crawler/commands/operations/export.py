"""`scrapy dataset export CORPUS_DIR --to FORMAT --out DIR`: the documents as other tools read them."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawler.commands.operation import Load, Operation
from crawler.config.storage import export_formats

if TYPE_CHECKING:
    from crawler.dataset.export import Exported
    from crawler.storage.files.formats import Format

NAMES = export_formats()


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the format, and the new folder."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--to", required=True, choices=NAMES, help="%(choices)s", metavar="FORMAT")
    parser.add_argument("--out", metavar="DIR", required=True, help="a new folder on this machine")


def export_corpus(opts: argparse.Namespace, load: Load) -> list[str]:
    """Write the export and say what is in it. Raises: UsageError, ConfigError, StorageError."""
    from rich.console import Console

    from crawler.dataset.export import export
    from crawler.storage.files.place import Place

    if "://" in opts.out:
        raise UsageError("--out: expected a folder on this machine; copy it from there")
    config, place = load(CORPUS_DIR=opts.out), Place(opts.corpus)  # the folder that is written is the new one

    def card(done: Exported, form: Format) -> str:
        return _card(opts.corpus, done, form)

    with Console(stderr=True).status("reading …") as status:
        done = export(
            place,
            Path(opts.out),
            opts.to,
            max_bytes=config.storage.shard_max_bytes,
            now=time.time(),
            card=card,
            progress=lambda count: status.update(f"{count:,} documents"),
        )
    left_out = f"; {done.withdrawn:,} withdrawn ones were left out" if done.withdrawn else ""
    files = "1 file" if done.files == 1 else f"{done.files:,} files"
    sys.stdout.write(f"{done.documents:,} documents in {files} are in {opts.out}{left_out}\n")
    return []


def _card(corpus: str, done: Exported, form: Format) -> str:
    from crawler.observe.publish.dataset_card import Files, card
    from crawler.observe.publish.provenance import gather

    return card(gather(corpus), Files([form.pattern], form.features), documents=done.documents)


OPERATION = Operation(
    "the kept documents for other tools: Parquet, JSON lines, Dolma, WebDataset, MDS",
    "export --to parquet --out release corpus",
    declare,
    export_corpus,
)
