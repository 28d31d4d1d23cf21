"""The dataset card of a mixture: what was wanted and what is there, with the sources by hash (README.md)."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from crawler.dataset.export import Exported
from crawler.dataset.mix.mixture import MIX, SOURCE_FIELD, Line, Plan
from crawler.dataset.mix.supply import written_label
from crawler.storage.files.formats import Format

HEAD = ("field", "value", "target", "tokens", "of target", "documents", "records", "epochs")


def card(plan: Plan, done: Exported, form: Format) -> str:
    """Markdown with YAML front matter, as `datasets.load_dataset` reads it; equal mixtures have equal cards."""
    extra = [{"name": SOURCE_FIELD, "dtype": "string"}] if _has_own_column(form) else []
    front = {
        "pretty_name": "Mixture",
        "license": "other",
        "license_name": "per-record",
        "task_categories": ["text-generation"],
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": [form.pattern]}]}],
        **({"dataset_info": {"features": [*form.features, *extra]}} if form.features else {}),
    }
    head = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, default_flow_style=False)
    return f"---\n{head}---\n\n" + "\n".join(_body(plan, done)) + "\n"


def _has_own_column(form: Format) -> bool:
    """Of JSON lines; in Parquet the source stands in `extra`, in Dolma's format in `metadata`."""
    return form.folder == "data" and form.suffix.startswith("jsonl")


def _body(plan: Plan, done: Exported) -> Iterator[str]:
    yield "# Mixture"
    yield ""
    yield f"{plan.tokens:,} tokens ({plan.counted_by}): {plan.documents:,} documents in {done.documents:,} records."
    yield f"`{SOURCE_FIELD}` names the source of each record; `{MIX}` has the sources by hash, and every figure here."
    yield ""
    yield "| source | read | withdrawn | without text |"
    yield "|---|---:|---:|---:|"
    for source, counts in zip(plan.spec.sources, plan.counts, strict=True):
        yield f"| {source.name} | {counts.read:,} | {counts.withdrawn:,} | {counts.empty:,} |"
    if plan.lines:
        yield ""
        yield f"| {' | '.join(HEAD)} |"
        yield f"|---|---|{'---:|' * (len(HEAD) - 2)}"
        yield from (f"| {' | '.join(cells(line))} |" for line in plan.lines)
    if plan.spec.cap:
        yield ""
        yield f"Values of {plan.spec.cap.by} that reach the cap of {plan.spec.cap.tokens:,.0f} tokens: " + (
            f"{len(plan.capped):,}."
        )


def cells(line: Line) -> tuple[str, ...]:
    """A line of the table, in the order of `HEAD`."""
    target = "" if line.target is None else f"{line.target:,.0f}"
    part = f"{line.tokens / line.target:.2%}" if line.target else ""
    counts = (f"{line.tokens:,}", part, f"{line.documents:,}", f"{line.uses:,}", f"{line.epochs:.2f}")
    return (line.by, written_label(line.value), target, *counts)
