"""What `gristmill llm questions` and `synthesize` share: the new folder, who has reviewed them, and what they tell."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.config.storage import export_formats
from crawler.number import number_of
from crawler.operations.answer import Answer, Fields
from crawler.operations.common import refuse_url
from crawler.operations.declared import Load, WrongCall
from crawler.operations.llm_common import (
    FACTS,
    NOTHING,
    declare_job,
    ended,
    estimated,
    facts_of,
    job_of,
    problems_of,
    provided,
    said_of_calls,
)  # fmt: skip

if TYPE_CHECKING:
    from crawler.llm.author import Author, Made
    from crawler.llm.job import Done, LlmJob


def declare_folder(parser: argparse.ArgumentParser, *, most_tokens: int) -> None:
    """The job, the new folder, and the domain of the texts."""
    declare_job(parser, most_tokens=most_tokens)
    add, names = parser.add_argument, export_formats()
    add("--out", metavar="DIR", help="a new folder on this machine; without it only with --dry-run")
    add("--to", choices=names, default="jsonl.zst", help="%(choices)s (jsonl.zst)", metavar="FORMAT")
    add("--domain", metavar="WORD", help="what the pages are about; medical and legal need --reviewed-by")
    add("--reviewed-by", default="", metavar="NAME", help="the expert who looks at the texts before they are used; "
        "stands in each record; without one pages read as medical or legal are left out")  # fmt: skip


def written(
    opts: argparse.Namespace, load: Load, author: Author, refusals: Mapping[str, str], checks: int
) -> Answer:  # fmt: skip
    """Ask, check, write. refusals: what each reason means; checks: the most of them for each request.

    Raises: WrongCall, InputError, ConfigError, StorageError.
    """
    from crawler.dataset.rewrite import corpus_place
    from crawler.llm.author import AuthorJob
    from crawler.llm.sensitive import LEGAL, MEDICAL, unwanted

    if (opts.out is None) != opts.dry_run:
        raise WrongCall("expected one of --out DIR and --dry-run")
    if (opts.domain or "").casefold() in (MEDICAL, LEGAL) and not opts.reviewed_by.strip():
        raise WrongCall(f"--domain {opts.domain}: give --reviewed-by with the expert who looks at the texts")
    refuse_url(opts.out)
    now = time.time()
    with corpus_place(opts.corpus) as place:
        job = job_of(place, author, opts, load, now)
        if not opts.reviewed_by.strip():
            job.pages.unwanted = unwanted(stated=opts.domain is not None)
        if opts.dry_run:
            answer = estimated(job, AuthorJob(job, author).useless)
            most = checks * answer.facts["requests"]
            lines = [*answer.lines] if not callable(answer.lines) else []
            if most:
                lines.append(f"up to {number_of(most, 'check')} of what comes are not in these figures; the budget is "
                             "for both")  # fmt: skip
            return Answer({**answer.facts, **_NONE, "checks": most}, lines)
        done, made = _ran(job, author, opts, load, now)
        return ended(opts, _answer(job, done, made, opts, refusals), done)


def _ran(job: LlmJob, author: Author, opts: argparse.Namespace, load: Load, now: float) -> tuple[Done, Made]:
    from crawler.llm.author import AuthorJob, Destination
    from crawler.llm.synthetic import sieve_of
    from crawler.observe.publish.derived import Description

    config = load()
    described = Description("synthetic", [job.place])
    where = Destination(Path(opts.out), opts.to, config.storage.shard_max_bytes, described)
    with sieve_of(config) as sieve:
        work = partial(AuthorJob(job, author).run, where=where, sieve=sieve, concurrency=opts.concurrency, now=now)
        return provided(job, lambda provider, after: work(provider, after=after))


def _answer(
    job: LlmJob, done: Done, made: Made, opts: argparse.Namespace, refusals: Mapping[str, str]
) -> Answer:  # fmt: skip
    facts = NOTHING | facts_of(job, done)
    facts |= {"out": opts.out if made.files else None, "texts": made.texts, "pages": made.pages}
    facts |= {"refused": dict(sorted(made.refused.items())), "checks": None}
    lines = list(said_of_calls(job, done))
    problems = list(problems_of(job, done))
    if made.files:
        lines.append(f"{number_of(made.texts, 'text')} of {number_of(made.pages, 'page')} in {opts.out}, all marked as "
                     "synthetic")  # fmt: skip
    elif done.ran.ended == "done":
        problems.append(f"no text was taken, so {opts.out} was not written; --again asks anew about pages of which "
                        "every text was refused, and they are paid once more; or take another model")  # fmt: skip
    else:
        problems.append(f"{opts.out} is written once all is asked; a smaller --sample takes part of the same pages")
    lines += [f"{number_of(count, 'text')} refused: {refusals[why]}" for why, count in made.refused.most_common()]
    return Answer(facts, lines, problems)


_NONE: dict[str, Any] = {"out": None, "texts": 0, "refused": {}}
FOLDER_FACTS: Fields = {
    "out": ("string or null", "the folder that was written"),
    "texts": ("integer", "texts in it"),
    "refused": ("object", "texts that were not taken, by why"),
    "checks": ("integer or null", "with --dry-run: the most checks that come on top"),
    **{name: field for name, field in FACTS.items() if name not in ("rows", "corpus_version")},
    "pages": ("integer or null", "with a text in the folder; with --dry-run: that may go out"),
}
"""Fields of every answer."""
