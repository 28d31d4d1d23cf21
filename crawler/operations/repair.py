"""`gristmill dataset repair CORPUS_DIR`: a manifest that is broken or gone is written again, or what lacks is said."""

from __future__ import annotations

import argparse

from crawler.dataset.repair import repair
from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.storage.files.place import Place


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")


def mend(opts: argparse.Namespace, load: Load) -> Answer:  # noqa: ARG001  # needs no settings
    """Say what was written again; what is missing are the problems. Raises: StorageError."""
    found = repair(Place(opts.corpus))
    last = f"the manifest lists {number_of(found.files, 'file')}; `gristmill dataset verify {opts.corpus}` checks them"
    return Answer({"files": found.files, "done": found.done}, [*found.done, last], found.missing)


WORK = Work(
    "repair corpus",
    declare,
    mend,
    {
        "files": ("integer", "files that the manifest lists now"),
        "done": ("list of string", "sentences about what was written again"),
    },
)
