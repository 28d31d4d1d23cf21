"""`gristmill dataset chunks CORPUS_DIR --out DIR`: the kept texts in pieces for retrieval, each with its place."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading, refuse_url
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.numbers import whole

TOKENS = 512


def declare(parser: argparse.ArgumentParser) -> None:
    """The corpus, the new folder, and how long a chunk may be."""
    add = parser.add_argument
    add("corpus", metavar="CORPUS_DIR")
    add("--out", metavar="DIR", required=True, help="a new folder on this machine")
    add("--tokens", type=whole(1), default=TOKENS, metavar="N", help=f"most tokens of a chunk ({TOKENS})")
    add("--overlap", type=whole(0), default=0, metavar="N", help="most tokens that a chunk repeats of the one before, "
        "in whole sentences or rows (0)")  # fmt: skip
    add("--tokenizer", metavar="FILE", help="tokenizer.json of the model that is going to read the chunks (a token is "
        "four bytes of UTF-8)")  # fmt: skip


def chunks(opts: argparse.Namespace, load: Load) -> Answer:
    """Cut, write, say what is there. Raises: WrongCall, ConfigError, StorageError."""
    from crawler.dataset.chunks.folder import Measure, write
    from crawler.dataset.lifetimes import Lifetimes
    from crawler.dataset.rewrite import corpus_place
    from crawler.llm.pages import Pages
    from crawler.observe.publish.derived import Description

    refuse_url(opts.out)
    if opts.overlap >= opts.tokens:
        raise WrongCall(f"--overlap: expected fewer tokens than a chunk has ({opts.tokens})")
    config, now = load(), time.time()
    measure = Measure(opts.tokens, opts.overlap, Path(opts.tokenizer) if opts.tokenizer else None)
    with corpus_place(opts.corpus, config.storage.spool_dir) as place, reading() as progress:
        pages = Pages(place, None, Lifetimes.of(config.storage.document_ttl_days), now)
        made = write(
            place,
            pages.read(),
            Path(opts.out),
            measure,
            max_bytes=config.storage.shard_max_bytes,
            now=now,
            left_out=lambda: pages.left_out,
            describer=Description("export", [place]),
            progress=lambda count: progress(f"{count:,} chunks"),
        )
        left_out = dict(pages.left_out)
    lines = [
        f"{opts.out}: {number_of(made.chunks, 'chunk')} of {number_of(made.pages, 'page')}, {made.tokens:,} tokens"
    ]
    lines += [f"{number_of(count, 'page')} left out: {why}" for why, count in sorted(left_out.items())]
    facts = {"out": opts.out, "pages": made.pages, "chunks": made.chunks, "tokens": made.tokens, "files": made.files}
    return Answer({**facts, "counted_by": made.counted_by, "left_out": left_out}, lines)


WORK = Work(
    "chunks corpus --out chunks --tokens 512",
    declare,
    chunks,
    {
        "out": ("string", "the folder that was written"),
        "pages": ("integer", "pages that were cut"),
        "chunks": ("integer", "chunks of them"),
        "tokens": ("integer", "tokens of these, repeated ones as often"),
        "files": ("integer", "files with chunks"),
        "counted_by": ("string", "what counts tokens"),
        "left_out": ("object", "pages that are not in it, by reason"),
    },
)
