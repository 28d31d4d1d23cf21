"""`gristmill dataset chunks CORPUS_DIR --out DIR`: chunks of the documents, for retrieval."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from crawler.number import are, number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading, refuse_url
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.numbers import whole
from crawler.operations.rewrite_report import tell_unsealed


def declare(parser: argparse.ArgumentParser) -> None:
    """One corpus, the new folder, and the size."""
    add = parser.add_argument
    add("corpus", metavar="CORPUS_DIR")
    add("--out", metavar="DIR", required=True, help="a new folder on this machine")
    add("--tokens", type=whole(1), default=512, metavar="N", help="most tokens of a chunk (512)")
    add("--overlap", type=whole(0), default=0, metavar="N", help="tokens of whole sentences, at most, that a chunk "
        "repeats of the one before it (0)")  # fmt: skip
    add("--tokenizer", metavar="FILE", help="a tokenizer.json that counts the tokens (four bytes of UTF-8 are one)")


def chunk(opts: argparse.Namespace, load: Load) -> Answer:
    """Write the chunks and say what is in them. Raises: WrongCall, ConfigError, StorageError."""
    from crawler.dataset.chunks_folder import chunk_corpus
    from crawler.storage.files.place import Place

    refuse_url(opts.out)
    if opts.overlap * 2 > opts.tokens:
        raise WrongCall(f"--overlap {opts.overlap}: expected at most half of --tokens {opts.tokens}")
    config = load(CORPUS_DIR=opts.out)
    with reading() as show_status:
        done = chunk_corpus(
            Place(opts.corpus),
            Path(opts.out),
            size=opts.tokens,
            overlap=opts.overlap,
            tokenizer=Path(opts.tokenizer) if opts.tokenizer else None,
            max_bytes=config.storage.shard_max_bytes,
            now=time.time(),
            progress=lambda count: show_status(number_of(count, "chunk")),
        )
    facts = {"out": opts.out, "documents": done.documents, "chunks": done.chunks, "files": done.files}
    facts |= {"withdrawn": done.withdrawn, "tokens_by": done.tokens_by}
    left_out = f"; {done.withdrawn:,} withdrawn ones were left out" if done.withdrawn else ""
    said = (
        f"{number_of(done.chunks, 'chunk')} of {number_of(done.documents, 'document')} in "
        f"{number_of(done.files, 'file')} {are(done.chunks)} in {opts.out}"
    )
    tell_unsealed(Place(opts.corpus))
    return Answer(facts, [said + left_out])


WORK = Work(
    "chunks --tokens 256 --out passages corpus",
    declare,
    chunk,
    {
        "out": ("string", "the folder that was written"),
        "documents": ("integer", "documents that were cut"),
        "chunks": ("integer", "chunks of them"),
        "files": ("integer", "files with chunks"),
        "withdrawn": ("integer", "withdrawn documents, which were left out"),
        "tokens_by": ("string", "what counted the tokens"),
    },
)
