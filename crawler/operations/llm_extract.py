"""`gristmill llm extract CORPUS_DIR --schema FILE --model … --budget …`: records by a JSON Schema, as an annotation."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import orjson

from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.llm_common import (
    FACTS,
    NOTHING,
    declare_job,
    estimated,
    facts_of,
    job_of,
    lines_of,
    problems_of,
    ran,
)
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.llm.job import LlmJob
    from crawler.storage.files.place import Place

WINDOW = 12_000
MOST_TOKENS = 4_096


def declare(parser: argparse.ArgumentParser) -> None:
    """The job, and what is read."""
    declare_job(parser, most_tokens=MOST_TOKENS)
    parser.add_argument("--schema", required=True, metavar="FILE", help="JSON Schema of a record: properties of type "
        "string, number or integer, or arrays of them; format date, enum, unit")  # fmt: skip
    parser.add_argument("--window", type=whole(1_000), default=WINDOW, metavar="N",
        help=f"characters of a text in one request; longer ones are read in parts ({WINDOW:,})")  # fmt: skip


def extract(opts: argparse.Namespace, load: Load) -> Answer | None:
    """Read, check, annotate. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from crawler.dataset.rewrite import corpus_place
    from crawler.llm.extract import Extract
    from crawler.llm.fields import form_of

    now = time.time()
    tool = Extract(form_of(opts.schema), opts.window, opts.max_tokens)
    with corpus_place(opts.corpus) as place:
        job = job_of(place, tool, opts, load, now)
        if opts.dry_run:
            answer = estimated(job)
            answer.facts = {**answer.facts, "annotation": tool.name, "fields": {}, "refused": 0}
            return answer
        done = ran(job, opts, now)
        found = _found(place, job)
        lines = list(lines_of(job, done))
        lines += [f"{name}: in {count:,} records" for name, count in found["fields"].items()]
        if found["refused"]:
            lines.append(f"{found['refused']:,} values follow from no passage of their page: refused")
        answer = Answer(NOTHING | facts_of(job, done) | found, lines, list(problems_of(job, done)))
    if done.ran.signal is not None:
        opts.tell(answer)
        raise done.ran.signal
    return answer


def _found(place: Place, job: LlmJob) -> dict[str, Any]:
    """What stands in the annotation now."""
    from crawler.dataset.annotate import Annotations

    annotations, name, refused = Annotations(place), job.tool.name, 0
    fields = dict.fromkeys(job.tool.parameters["fields"], 0)
    if name in annotations.names():
        for row in annotations.read(name):
            refused += row["refused"]
            for each, value in orjson.loads(row["record"]).items():
                if each in fields and value not in (None, []):
                    fields[each] += 1
    return {"annotation": name, "fields": fields, "refused": refused}


WORK = Work(
    "extract corpus --schema product.json --model openai:gpt-5-mini --budget 5USD",
    declare,
    extract,
    {
        "annotation": ("string", "what the records are called"),
        **FACTS,
        "fields": ("object", "records of the annotation that have a value, by field"),
        "refused": ("integer", "values in its answers that follow from no passage"),
    },
)
