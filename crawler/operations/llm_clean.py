"""`gristmill llm clean CORPUS_DIR --model … --budget …`: the main text of pages whose extraction is in doubt."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.llm_common import FACTS, answered, declare_job, job_of
from crawler.operations.numbers import share, whole

if TYPE_CHECKING:
    from crawler.llm.job import Done
    from crawler.storage.files.place import Place

BELOW, MOST_CHARS, MOST_TOKENS = 0.6, 20_000, 8_192


def declare(parser: argparse.ArgumentParser) -> None:
    """The job, which pages, and whether their texts are replaced."""
    declare_job(parser, most_tokens=MOST_TOKENS)
    add = parser.add_argument
    add("--below", type=share, default=BELOW, metavar="CONFIDENCE", help=f"pages whose extraction_confidence is less "
        f"({BELOW})")  # fmt: skip
    add("--max-chars", type=whole(200), default=MOST_CHARS, metavar="N", help="that a page may show; one that shows "
        f"more is left out ({MOST_CHARS:,})")  # fmt: skip
    add("--apply", action="store_true", help="make a version of the corpus in which the texts that were taken stand in "
        "place of theirs")  # fmt: skip


def clean(opts: argparse.Namespace, load: Load) -> Answer:
    """Ask, check, annotate, replace. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from crawler.dataset.rewrite import corpus_place
    from crawler.documents.shown_text import ShownTexts
    from crawler.llm.clean import REFUSALS, Clean, apply

    now = time.time()
    with corpus_place(opts.corpus) as place:
        tool = Clean(ShownTexts(place, load()), opts.below, opts.max_chars, opts.max_tokens)
        job = job_of(place, tool, opts, load, now)
        job.pages.unwanted = tool.unwanted

        def found(done: Done) -> tuple[dict[str, Any], list[str]]:
            there = _found(place)
            lines = [f"texts that stand in their page: {len(there.texts):,}"]
            lines += [f"{number_of(count, 'text')} refused: {REFUSALS[why]}" for why, count in there.refused.items()]
            replaced = None
            if opts.apply and done.ran.signal is None:
                made = apply(place, there.texts, now=now)
                replaced = made.changed
                lines.append(f"{number_of(made.changed, 'text')} replaced; version {made.version} of the corpus")
            return {"taken": len(there.texts), "refused": there.refused, "replaced": replaced}, lines

        return answered(job, opts, now, {"taken": 0, "refused": {}, "replaced": None}, found)


@dataclass(slots=True)
class _Found:
    """What stands in the annotation now. texts: that were taken, by URL and `doc_id`; refused: others by why."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)


def _found(place: Place) -> _Found:
    from crawler.dataset.annotate import Annotations
    from crawler.llm.clean import NAME

    annotations, found = Annotations(place), _Found()
    for row in annotations.read(NAME) if NAME in annotations.names() else ():
        if row["refused"]:
            found.refused[row["refused"]] = found.refused.get(row["refused"], 0) + 1
        else:
            found.texts[str(row["canonical_url"]), str(row["doc_id"])] = row["text"]
    return found


WORK = Work(
    "clean corpus --model openai:gpt-5-mini --budget 5USD --below 0.5",
    declare,
    clean,
    {
        **FACTS,
        "taken": ("integer", "texts of the annotation, each of which stands in its page"),
        "refused": ("object", "texts of its answers that were not taken, by why"),
        "replaced": ("integer or null", "with --apply: records that have another text now"),
    },
)
