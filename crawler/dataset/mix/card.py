"""What the dataset card of a mixture says of its plan: what was wanted and what is there, with the sources by hash."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.dataset.mix.mixture import MIX, SOURCE_FIELD, Line, Plan
from crawler.dataset.mix.supply import written_label
from crawler.number import number_of
from crawler.storage.files.formats import Format

HEAD = ("field", "value", "target", "tokens", "of target", "documents", "records", "epochs")


def column_of(form: Format) -> tuple[dict[str, str], ...]:
    """The column with the source, for the card: of JSON lines and Parquet. Dolma has it in `metadata`."""
    has_columns = form.folder == "data" and form.suffix.startswith(("jsonl", "parquet"))
    return ({"name": SOURCE_FIELD, "dtype": "string"},) if has_columns else ()


def section(plan: Plan) -> Iterator[str]:
    """Lines of Markdown; equal mixtures have equal ones."""
    yield "## Mixture"
    yield ""
    yield (
        f"{plan.tokens:,} tokens ({plan.counted_by}): {number_of(plan.documents, 'document')} "
        f"in {number_of(plan.uses, 'record')}."
    )
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
    if plan.synthetic["documents"]:
        yield ""
        yield f"Language models wrote {plan.synthetic['tokens']:,} of these tokens ({plan.synthetic_share:.2%}; at most"
        yield (
            f"{plan.spec.synthetic:.2%} may be): "
            f"{number_of(plan.synthetic['documents'], 'document')}, `synthetic` true."
        )
    if plan.spec.cap:
        yield ""
        yield f"Values of {plan.spec.cap.by} that reach the cap of {plan.spec.cap.tokens:,.0f} tokens: " + (
            f"{len(plan.capped):,}."
        )
    yield ""


def cells(line: Line) -> tuple[str, ...]:
    """A line of the table, in the order of `HEAD`."""
    target = "" if line.target is None else f"{line.target:,.0f}"
    part = f"{line.tokens / line.target:.2%}" if line.target else ""
    counts = (f"{line.tokens:,}", part, f"{line.documents:,}", f"{line.uses:,}", f"{line.epochs:.2f}")
    return (line.by, written_label(line.value), target, *counts)
