"""`gristmill llm extract CORPUS_DIR --schema FILE --model … --budget …`: records by a JSON Schema, as an annotation."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import orjson

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.declared import Load, Work
from crawler.operations.llm_common import FACTS, answered, declare_job, job_of
from crawler.operations.numbers import whole

if TYPE_CHECKING:
    from crawler.llm.job import Done, LlmJob
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


def extract(opts: argparse.Namespace, load: Load) -> Answer:
    """Read, check, annotate. Raises: WrongCall, InputError, ConfigError, StorageError."""
    from crawler.dataset.rewrite import corpus_place
    from crawler.llm.extract import Extract
    from crawler.llm.fields import form_of

    now = time.time()
    tool = Extract(form_of(opts.schema), opts.window, opts.max_tokens)
    with corpus_place(opts.corpus) as place:
        job = job_of(place, tool, opts, load, now)

        def found(_: Done) -> tuple[dict[str, Any], list[str]]:
            facts = _found(place, job)
            lines = [f"{name}: in {number_of(count, 'record')}" for name, count in facts["fields"].items()]
            if facts["refused"]:
                lines.append(
                    f"{number_of(facts['refused'], 'value follows', 'values follow')} "
                    "from no passage of their page: refused"
                )
            return facts, lines

        return answered(job, opts, now, {"annotation": tool.name, "fields": {}, "refused": 0}, found)


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
