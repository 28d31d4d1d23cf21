"""`gristmill llm judge CORPUS_DIR --model … --budget …`: scores by a rubric, as an annotation."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.llm_common import FACTS, answered, declare_job, job_of
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.llm.job import Done, LlmJob
    from crawler.llm.model import Provider
    from crawler.storage.files.place import Place

MOST_CHARS = 20_000


def declare(parser: argparse.ArgumentParser) -> None:
    """The job, and what is judged."""
    declare_job(parser)
    add = parser.add_argument
    add("--rubric", default="quality", metavar="NAME|FILE", help="quality, educational, factual, coherence, relevance, "
        "or a file of YAML (quality)")  # fmt: skip
    add("--topic", default="", metavar="TEXT", help="what the rubric relevance asks about")
    add("--max-chars", type=whole(200), default=MOST_CHARS, metavar="N", help=f"of a text that are sent ({MOST_CHARS})")
    add("--injection", type=whole(1), metavar="N", help="judge N of the pages once more with a planted line that asks "
        "for a high score, and say how often it moves the score")  # fmt: skip


def judge(opts: argparse.Namespace, load: Load) -> Answer:
    """Score, annotate, hold against labels. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from dataclasses import asdict

    from crawler.dataset.rewrite import corpus_place
    from crawler.llm.injection import measured
    from crawler.llm.judge import Judge
    from crawler.llm.rubric import rubric_of

    if opts.batch and opts.injection is not None:
        raise WrongCall("expected one of --batch and --injection")
    now = time.time()
    tool = Judge(rubric_of(opts.rubric, opts.topic), opts.max_chars, opts.max_tokens)
    with corpus_place(opts.corpus) as place:
        job = job_of(place, tool, opts, load, now)
        injection: dict[str, Any] = {"injection": None}

        def plant(provider: Provider, done: Done) -> None:
            if opts.injection is not None and done.ran.ended == "done":
                injected = measured(job, tool, provider, done, most=opts.injection, concurrency=opts.concurrency)
                injection["injection"] = asdict(injected)

        def found(_: Done) -> tuple[dict[str, Any], list[str]]:
            facts = _found(place, job) | injection
            return facts, list(_lines(facts))

        nothing: dict[str, Any] = {"annotation": tool.name, "scores": {}, "agreement": None, "injection": None}
        return answered(job, opts, now, nothing, found, then=plant)


def _found(place: Place, job: LlmJob) -> dict[str, Any]:
    """What stands in the annotation now."""
    from crawler.dataset.annotate import Annotations
    from crawler.llm.agreement import agreement, labels_of

    annotations, name = Annotations(place), job.tool.name
    scores: dict[str, int] = {}
    agreed = None
    if name in annotations.names():
        for row in annotations.read(name):
            scores[str(row["score"])] = scores.get(str(row["score"]), 0) + 1
        if labels := labels_of(place):
            agreed = agreement(labels, annotations.read(name))
    return {"annotation": name, "scores": dict(sorted(scores.items())), "agreement": agreed}


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if found["scores"]:
        yield "scores of all its rows: " + ", ".join(f"{score}: {count:,}" for score, count in found["scores"].items())
    if (agreed := found["agreement"]) is not None:
        auc = "not defined" if agreed["auc"] is None else f"{agreed['auc']:.3f}"
        kappa = "not defined" if agreed["kappa"] is None else f"{agreed['kappa']:.2f}"
        yield f"{agreed['labels']:,} labels of people: AUC {auc}, {agreed['equal']:.0%} equal verdicts, kappa {kappa}"

    if (planted := found["injection"]) is not None:
        moved = f"{planted['moved']:,} of {planted['pages']:,} scores"
        yield f"a planted line that asks for a high score moves {moved}, by {planted['mean']:+.2f} on average"


WORK = Work(
    "judge corpus --model openai:gpt-5-mini --budget 5USD --rubric educational --sample 500",
    declare,
    judge,
    {
        "annotation": ("string", "what the scores are called"),
        **FACTS,
        "scores": ("object", "rows of the annotation by score"),
        "injection": ("object or null", "with --injection: pages, moved (whose score a planted line changes), mean"),
        "agreement": ("object or null", "with labels of people: labels, auc, auc_low, auc_high, equal, kappa"),
    },
)
