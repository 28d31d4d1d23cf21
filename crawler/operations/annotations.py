"""`scrapy dataset annotations CORPUS_DIR`: which there are, how many documents have one, and what made them."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work

if TYPE_CHECKING:
    from crawler.dataset.annotations.listed import Annotation


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, --drop."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--drop", metavar="NAME", help="make a version of the corpus without this annotation")


def show(opts: argparse.Namespace, load: Load) -> Answer:
    """List them, after one was dropped where that is asked for. Raises: InputError, StorageError."""
    from crawler.dataset.annotations.listed import annotations_in
    from crawler.storage.files.place import Place

    if opts.drop:
        from crawler.dataset.annotate import Annotations
        from crawler.dataset.rewrite import corpus_place

        with corpus_place(opts.corpus, load().storage.spool_dir) as place:
            Annotations(place).drop(opts.drop, now=time.time())
    manifest = Place(opts.corpus).manifest()
    found, kept = annotations_in(manifest["files"]), manifest["counts"]["kept"]
    facts = [{"name": one.name, "rows": one.rows, "coverage": _share(one, kept), "jobs": one.jobs} for one in found]
    of_kept = f"of {number_of(kept, 'document')}"
    lines = [
        f"{one.name}: {one.rows:,} {'files of rejected pages' if one.is_of_files else of_kept}; "
        f"{one.jobs[-1]['kind']}, {', '.join(one.columns)}; {one.jobs[-1]['ended']} {one.jobs[-1]['code']}".rstrip()
        for one in found
    ]
    return Answer({"annotations": facts}, lines or ["no annotation"])


def _share(annotation: Annotation, kept: int) -> float:
    return annotation.rows / kept if kept and not annotation.is_of_files else 0.0


WORK = Work(
    "annotations corpus",
    declare,
    show,
    {
        "annotations": (
            "list of object",
            "name, rows, coverage (part of the kept documents with a row), jobs: what made the rows, the newest last",
        )
    },
)
