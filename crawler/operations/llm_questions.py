"""`gristmill llm questions CORPUS_DIR --out DIR --model … --budget …`: questions with answers, as a folder."""

from __future__ import annotations

import argparse

from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.llm_folder import FOLDER_FACTS, declare_folder, written
from crawler.operations.numbers import whole

WINDOW, MOST, MOST_TOKENS = 8_000, 5, 2_048


def declare(parser: argparse.ArgumentParser) -> None:
    """The job, the folder, and how many questions."""
    declare_folder(parser, most_tokens=MOST_TOKENS)
    add = parser.add_argument
    add("--questions", type=whole(1), default=MOST, metavar="N", help=f"for each part of a text, at most ({MOST})")
    add("--window", type=whole(1_000), default=WINDOW, metavar="N",
        help=f"characters of a part; longer texts have several ({WINDOW:,})")  # fmt: skip


def questions(opts: argparse.Namespace, load: Load) -> Answer:
    """Ask, check, write. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from crawler.llm.questions import REFUSALS, Questions

    author = Questions(opts.questions, opts.window, opts.max_tokens, opts.model, opts.reviewed_by.strip())
    return written(opts, load, author, REFUSALS, opts.questions)


WORK = Work(
    "questions corpus --out pairs --model openai:gpt-5-mini --budget 5USD",
    declare,
    questions,
    FOLDER_FACTS,
)
