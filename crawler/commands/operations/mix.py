"""`scrapy dataset mix SPEC --out DIR`: a mixture of several sources, by the targets of a spec."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from scrapy.exceptions import UsageError

from crawler.commands.operation import Load, Operation
from crawler.commands.operations.export import NAMES

if TYPE_CHECKING:
    from crawler.dataset.mix.mixture import Plan


def declare(parser: argparse.ArgumentParser) -> None:
    """One spec, the format and the new folder, or the plan alone."""
    parser.add_argument("spec", metavar="SPEC", help="YAML: sources, targets, tokens (docs/mixtures.md)")
    parser.add_argument("--out", metavar="DIR", help="a new folder on this machine")
    parser.add_argument("--to", choices=NAMES, default="jsonl.zst", help="%(choices)s (jsonl.zst)", metavar="FORMAT")
    parser.add_argument("--dry-run", action="store_true", help="print the plan and write nothing")
    parser.add_argument("--json", action="store_true", help="the table as JSON")


def mix_sources(opts: argparse.Namespace, load: Load) -> list[str]:
    """Plan, write unless --dry-run, print target against achieved. Raises: UsageError, ConfigError, StorageError."""
    from rich.console import Console

    from crawler.dataset.mix import mixture
    from crawler.dataset.mix.card import card
    from crawler.dataset.mix.spec import load as read_spec

    if (opts.out is None) != opts.dry_run:
        raise UsageError("expected one of --out DIR and --dry-run")
    if opts.out is not None and "://" in opts.out:
        raise UsageError("--out: expected a folder on this machine; copy it from there")
    max_bytes, spec = load().storage.shard_max_bytes, read_spec(Path(opts.spec))
    with Console(stderr=True).status("reading …") as status:

        def show(count: int) -> None:
            status.update(f"{count:,} documents")

        if opts.out is None:
            plan = mixture.plan(spec, show)
        else:
            plan, _ = mixture.mix(spec, Path(opts.out), opts.to, max_bytes=max_bytes, card=card, progress=show)
    _print(plan, opts)
    return []


def _print(plan: Plan, opts: argparse.Namespace) -> None:
    if opts.json:
        sys.stdout.write(orjson.dumps(plan.as_dict(), option=orjson.OPT_INDENT_2).decode() + "\n")
        return
    from crawler.dataset.mix.card import HEAD, cells

    rows = [HEAD, *(cells(line) for line in plan.lines)] if plan.lines else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        parts = [text.ljust(w) if n < 2 else text.rjust(w) for n, (text, w) in enumerate(zip(row, widths, strict=True))]
        sys.stdout.write("  ".join(parts).rstrip() + "\n")
    if plan.spec.cap:
        limit = f"{plan.spec.cap.tokens:,.0f}"
        sys.stdout.write(f"{len(plan.capped):,} values of {plan.spec.cap.by} stand at the cap of {limit} tokens\n")
    if withdrawn := sum(counts.withdrawn for counts in plan.counts):
        sys.stdout.write(f"{withdrawn:,} withdrawn documents were left out\n")
    made = "would be" if opts.dry_run else f"are in {opts.out}"
    sys.stdout.write(
        f"{plan.tokens:,} of {plan.spec.budget:,.0f} tokens ({plan.counted_by}): {plan.documents:,} documents in "
        f"{plan.uses:,} records {made}\n"
    )


OPERATION = Operation(
    "several sources in given parts: targets by tokens, a budget, a cap, epochs",
    "mix --out mixed spec.yaml",
    declare,
    mix_sources,
)
