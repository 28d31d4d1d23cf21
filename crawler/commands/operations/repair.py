"""`scrapy dataset repair CORPUS_DIR`: a manifest that is broken or gone is written again, or what lacks is said."""

from __future__ import annotations

import argparse
import sys

from crawler.commands.operation import Load, Operation
from crawler.dataset.repair import repair
from crawler.storage.files.place import Place


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")


def mend(opts: argparse.Namespace, load: Load) -> list[str]:  # noqa: ARG001  # needs no settings
    """Say what was written again; what is missing are the problems. Raises: StorageError."""
    found = repair(Place(opts.corpus))
    sys.stdout.writelines(f"{line}\n" for line in found.done)
    sys.stdout.write(f"the manifest lists {found.files:,} files; `scrapy dataset verify {opts.corpus}` checks them\n")
    return found.missing


OPERATION = Operation(
    "write a manifest again that is broken or gone, from the ledgers and the files", "repair corpus", declare, mend
)
