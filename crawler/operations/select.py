"""`gristmill dataset select CORPUS_DIR --out DIR`: a subset with a manifest of its own."""

from __future__ import annotations

import argparse
import time

from crawler.number import are, number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.numbers import share


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the new folder, and the conditions, all of which have to hold."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--out", metavar="DIR", required=True, help="a new folder for the subset")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="such as 'word_count >= 500 and not title ~ draft'; repeatable",
    )
    parser.add_argument("--sql", metavar="EXPRESSION", default="", help="an SQL condition on the table `documents`")
    parser.add_argument("--language", metavar="L[,L]", default="", help="ISO 639-1 codes")
    parser.add_argument("--licence", metavar="TAG[,TAG]", default="", help="license_tag of the record")
    parser.add_argument("--domain", metavar="D[,D]", default="", help="these domains with their subdomains")
    parser.add_argument("--min-quality", type=share, metavar="Q", help="least quality_score")
    parser.add_argument("--all-versions", action="store_true", help="older records of a page, too, not only its latest")


def select_subset(opts: argparse.Namespace, load: Load) -> Answer:
    """Write the subset and say what is in it. Raises: WrongCall, ConfigError, StorageError."""
    from crawler.dataset.annotations.joined import fields_of
    from crawler.dataset.select import Selection, chosen_by, condition_of, select
    from crawler.storage.files.place import Place

    if opts.sql and opts.all_versions:
        raise WrongCall("--sql asks the index, which has no older versions: leave out --all-versions")
    config, place = load(CORPUS_DIR=opts.out), Place(opts.corpus)  # the corpus that is written is the subset
    try:
        annotated = fields_of(place) if opts.where else {}
        conditions = tuple(condition_of(text, annotated) for text in opts.where)
        chosen = None
        if opts.sql:
            with reading() as show_status:
                chosen = chosen_by(place, opts.sql, progress=lambda path: show_status(f"indexing {path}"))
        selection = Selection(
            _set(opts.language), _set(opts.licence), _set(opts.domain), opts.min_quality, conditions, opts.sql, chosen
        )
        target = Place(opts.out, config.storage.spool_dir)
        run = select(
            place,
            target,
            selection,
            max_bytes=config.storage.shard_max_bytes,
            max_documents=config.storage.shard_max_documents,
            now=time.time(),
            all_versions=opts.all_versions,
        )
    except ValueError as error:
        raise WrongCall(str(error)) from None
    found = run["selected_from"]
    facts = {"out": opts.out, "read": found["read"], "selected": found["selected"]}
    return Answer(
        facts,
        [f"{found['selected']:,} of {number_of(found['read'], 'document')} {are(found['selected'])} in {opts.out}"],
    )


def _set(text: str) -> frozenset[str]:
    return frozenset(item.strip() for item in text.split(",") if item.strip())


WORK = Work(
    "select --language en --min-quality 0.5 --out english corpus",
    declare,
    select_subset,
    {
        "out": ("string", "the folder of the subset"),
        "read": ("integer", "documents that were read"),
        "selected": ("integer", "documents in the subset"),
    },
)
