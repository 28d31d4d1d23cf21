"""`gristmill llm caption IMAGES_DIR --model … --budget …`: how well captions fit their images, as a table of both."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import refuse_url
from crawler.operations.declared import Load, Work
from crawler.operations.llm_common import FACTS, answered, declare_job, job_of

if TYPE_CHECKING:
    from crawler.images.folder import Folder
    from crawler.llm.job import Done

MOST_TOKENS = 300


def declare(parser: argparse.ArgumentParser) -> None:
    """The job, on a data set of images."""
    declare_job(parser, most_tokens=MOST_TOKENS, of=("IMAGES_DIR", "images"))


def caption(opts: argparse.Namespace, load: Load) -> Answer:
    """Let what the corpus has withdrawn leave, ask, write. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from crawler.dataset.lifetimes import Lifetimes
    from crawler.dataset.registry.behind import refusals_of
    from crawler.images.decode import library
    from crawler.images.fit_job import FitJob, Pictures, source_of
    from crawler.images.folder import Folder
    from crawler.images.withdraw import withdraw_from
    from crawler.llm.caption import Caption
    from crawler.problems import InputError
    from crawler.storage.files.place import Place

    refuse_url(opts.corpus)
    folder, now = Folder(Path(opts.corpus)), time.time()
    if folder.manifest() is None:
        raise InputError([f"{opts.corpus}: no images.json; expected a folder of `gristmill dataset images`"])
    library()
    corpus = source_of(folder)
    kinds = partial(FitJob, corpus=corpus), partial(Pictures, provider=opts.model.partition(":")[0])
    with folder.at_work():
        job = job_of(Place(opts.corpus), Caption(opts.max_tokens), opts, load, now, kinds=kinds)
        lifetimes, removed = Lifetimes.of(load().storage.document_ttl_days), 0
        if not opts.dry_run:
            removed = withdraw_from(folder, refusals_of([corpus]), corpus, lifetimes, now=now)

        def found(_: Done) -> tuple[dict[str, Any], list[str]]:
            scores = _scores(folder)
            counts = ", ".join(f"{score}: {count:,}" for score, count in scores.items())
            lines = [f"scores of all its rows: {counts}"] if scores else []
            if removed:
                lines.append(f"{number_of(removed, 'image')} left first: the corpus has them, or their pages, no more")
            return {"removed": removed, "scores": scores}, lines

        return answered(job, opts, now, {"removed": 0, "scores": {}}, found)


def _scores(folder: Folder) -> dict[str, int]:
    from crawler.images.fit import fit_rows

    found = Counter(str(row["score"]) for row in fit_rows(folder, folder.manifest() or {"files": []}))
    return dict(sorted(found.items()))


WORK = Work(
    "caption pairs --model openai:gpt-5-mini --budget 5USD --sample 500",
    declare,
    caption,
    {
        **FACTS,
        "removed": ("integer", "images that left the data set before, as the corpus has withdrawn or replaced them"),
        "scores": ("object", "rows of its table by score"),
    },
)
