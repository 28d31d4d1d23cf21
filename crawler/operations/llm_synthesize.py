"""`gristmill llm synthesize CORPUS_DIR --out DIR --model … --budget …`: texts in the style of pages, as a folder."""

from __future__ import annotations

import argparse

from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.llm_folder import FOLDER_FACTS, declare_folder, written
from crawler.operations.numbers import whole

MOST_CHARS, WORDS, MOST_TOKENS = 6_000, 300, 2_048


def declare(parser: argparse.ArgumentParser) -> None:
    """The job, the folder, and which texts."""
    declare_folder(parser, most_tokens=MOST_TOKENS)
    add = parser.add_argument
    add("--texts", type=whole(1), default=1, metavar="N", help="after each page (1)")
    add("--words", type=whole(30), default=WORDS, metavar="N", help=f"of a text, about ({WORDS})")
    add("--max-chars", type=whole(200), default=MOST_CHARS, metavar="N", help=f"of a page that are sent ({MOST_CHARS})")


def synthesize(opts: argparse.Namespace, load: Load) -> Answer:
    """Ask, hold against the pages, write. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from crawler.llm.synthesize import REFUSALS, Synthesize

    topic = "" if opts.domain in (None, "general") else opts.domain
    author = Synthesize(
        opts.texts, opts.words, opts.max_chars, opts.max_tokens, opts.model, topic, opts.reviewed_by.strip()
    )
    return written(opts, load, author, REFUSALS, 0)


WORK = Work(
    "synthesize corpus --out texts --model openai:gpt-5-mini --budget 5USD --sample 200",
    declare,
    synthesize,
    FOLDER_FACTS,
)
