"""`gristmill dataset mix SPEC --out DIR`: a mixture of several sources, by the targets of a spec."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.number import number_of
from crawler.operations.answer import Answer
from crawler.operations.common import reading, refuse_url
from crawler.operations.declared import Load, Work, WrongCall
from crawler.operations.export import NAMES

if TYPE_CHECKING:
    from crawler.dataset.mix.mixture import Plan
    from crawler.dataset.mix.sources import Sources
    from crawler.storage.files.formats import Format
    from crawler.storage.files.records import Record


def declare(parser: argparse.ArgumentParser) -> None:
    """One spec, the format and the new folder, or the plan alone."""
    parser.add_argument("spec", metavar="SPEC", help="YAML: sources, targets, tokens (docs/mixtures.md)")
    parser.add_argument("--out", metavar="DIR", help="a new folder on this machine")
    parser.add_argument("--to", choices=NAMES, default="jsonl.zst", help="%(choices)s (jsonl.zst)", metavar="FORMAT")
    parser.add_argument("--dry-run", action="store_true", help="print the plan and write nothing")


def mix_sources(opts: argparse.Namespace, load: Load) -> Answer:
    """Plan, write unless --dry-run, show target against achieved. Raises: WrongCall, ConfigError, StorageError."""
    from crawler.dataset.mix import mixture
    from crawler.dataset.mix.spec import load as read_spec

    if (opts.out is None) != opts.dry_run:
        raise WrongCall("expected one of --out DIR and --dry-run")
    refuse_url(opts.out)
    max_bytes, spec = load().storage.shard_max_bytes, read_spec(Path(opts.spec))
    with reading() as show_status:

        def show(count: int) -> None:
            show_status(number_of(count, "document"))

        if opts.out is None:
            plan = mixture.plan(spec, show)
        else:
            plan, _ = mixture.mix(spec, Path(opts.out), opts.to, max_bytes=max_bytes, describe=Published, progress=show)
    return Answer(plan.as_dict(), _lines(plan, opts))


class Published:
    """Makes the published documents of a mixture."""

    def __init__(self, sources: Sources) -> None:
        from crawler.observe.publish.derived import Description

        self._found = Description("mixture", sources.corpora(), sources.others())

    def add(self, record: Record, source: str) -> None:
        """Count a document."""
        self._found.add(record, source)

    def documents(self, plan: Plan, files: list[dict[str, Any]], form: Format) -> dict[str, bytes]:
        """Content by name."""
        from crawler.dataset.mix.card import column_of, section

        return self._found.documents(
            files,
            form,
            withdrawn=sum(counts.withdrawn for counts in plan.counts),
            uses=plan.uses if plan.uses != plan.documents else 0,
            columns=column_of(form),
            more=section(plan),
        )


def _lines(plan: Plan, opts: argparse.Namespace) -> Iterator[str]:
    from crawler.dataset.mix.card import HEAD, cells

    rows = [HEAD, *(cells(line) for line in plan.lines)] if plan.lines else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        parts = [text.ljust(w) if n < 2 else text.rjust(w) for n, (text, w) in enumerate(zip(row, widths, strict=True))]
        yield "  ".join(parts).rstrip()
    if plan.spec.cap:
        limit = f"{plan.spec.cap.tokens:,.0f}"
        yield f"{number_of(len(plan.capped), 'value')} of {plan.spec.cap.by} reach the cap of {limit} tokens"
    if plan.synthetic["documents"]:
        share = f"{plan.synthetic_share:.2%} of the tokens; at most {plan.spec.synthetic:.2%} may be"
        yield f"{number_of(plan.synthetic['documents'], 'document')} by language models ({share})"
    if withdrawn := sum(counts.withdrawn for counts in plan.counts):
        yield f"{withdrawn:,} withdrawn documents were left out"
    made = "would be" if opts.dry_run else f"are in {opts.out}"
    yield (
        f"{plan.tokens:,} of {plan.spec.budget:,.0f} tokens ({plan.counted_by}): "
        f"{number_of(plan.documents, 'document')} in "
        f"{number_of(plan.uses, 'record')} {made}"
    )


WORK = Work(
    "mix --out mixed spec.yaml",
    declare,
    mix_sources,
    {
        "budget": ("integer", "tokens that the spec requests"),
        "tokens": ("integer", "tokens of the mixture"),
        "documents": ("integer", "documents in it"),
        "records": ("integer", "records in it; a document may be there several times"),
        "counted_by": ("string", "what counted the tokens"),
        "targets": ("list of object", "by, value, target, tokens, documents, uses, there and epochs of each target"),
        "capped": ("integer", "values that reach the cap"),
        "synthetic": ("object", "tokens and documents that language models wrote, their share, most_share allowed"),
    },
)
