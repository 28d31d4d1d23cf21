"""`gristmill dataset export CORPUS_DIR --to FORMAT --out DIR`: the documents as other tools read them."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from crawler.config.storage import export_formats
from crawler.number import are, number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading, refuse_url
from crawler.operations.declared import Load, Work
from crawler.operations.rewrite_report import tell_unsealed

NAMES = export_formats()


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the format, and the new folder."""
    parser.add_argument("corpus", metavar="CORPUS_DIR")
    parser.add_argument("--to", required=True, choices=NAMES, help="%(choices)s", metavar="FORMAT")
    parser.add_argument("--out", metavar="DIR", required=True, help="a new folder on this machine")
    parser.add_argument("--redact-urls", action="store_true", help="write [PERSON] and the like in addresses, too, "
                        "where they repeat what was redacted in the page")  # fmt: skip


def export_corpus(opts: argparse.Namespace, load: Load) -> Answer:
    """Write the export and say what is in it. Raises: WrongCall, ConfigError, StorageError."""
    from crawler.dataset.export import export
    from crawler.observe.publish.derived import Description
    from crawler.storage.files.place import Place

    refuse_url(opts.out)
    config, place = load(CORPUS_DIR=opts.out), Place(opts.corpus)  # the folder that is written is the new one

    with reading() as show_status:
        done = export(
            place,
            Path(opts.out),
            opts.to,
            max_bytes=config.storage.shard_max_bytes,
            now=time.time(),
            describer=Description("export", [place]),
            progress=lambda count: show_status(number_of(count, "document")),
            redact_urls=opts.redact_urls,
        )
    left_out = f"; {done.withdrawn:,} withdrawn ones were left out" if done.withdrawn else ""
    facts = {"out": opts.out, "documents": done.documents, "files": done.files, "withdrawn": done.withdrawn}
    facts |= {"redacted_urls": done.addresses and done.addresses.redacted}
    facts |= {"urls_in_doubt": done.addresses and done.addresses.in_doubt}
    said = (
        f"{number_of(done.documents, 'document')} in {number_of(done.files, 'file')} "
        f"{are(done.documents)} in {opts.out}{left_out}"
    )
    lines = [said]
    if done.addresses is not None:
        lines.append(
            f"{done.addresses.redacted:,} addresses were redacted; {done.addresses.in_doubt:,} end behind their host, "
            "because an older version redacted the page and did not look at its address"
        )
    tell_unsealed(place)
    return Answer(facts, lines)


WORK = Work(
    "export --to parquet --out release corpus",
    declare,
    export_corpus,
    {
        "out": ("string", "the folder that was written"),
        "documents": ("integer", "documents in it"),
        "files": ("integer", "files with documents"),
        "withdrawn": ("integer", "withdrawn documents, which were left out"),
        "redacted_urls": (
            "integer or null",
            "addresses that lost what was redacted in their page; null: not asked for",
        ),
        "urls_in_doubt": ("integer or null", "addresses that lost their path, since nobody knows what they repeat"),
    },
)
