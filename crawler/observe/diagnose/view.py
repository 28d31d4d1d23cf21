"""A diagnosis in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawler.number import number_of, written
from crawler.observe.diagnose.diagnosis import Diagnosis, Distribution, Lever, NearMiss, Step, advice
from crawler.observe.report.samples import Sample
from crawler.observe.report.terminal import bar, table_of

TOP_LEVERS = 12
_SPARKS = "▁▂▃▄▅▆▇█"
_EXCERPT = 240
_INDENT = 2


def show(found: Diagnosis, console: Console) -> None:
    """Print the diagnosis."""
    console.print()
    console.print(_headline(found))
    for note in found.notes:
        console.print(Text(f"note: {note}", "dim"))
    sections = [
        ("Rejected, in the order of the stages", _fitting(console, _reasons(found), _reasons(found, drawn=False))),
        (
            "Scores, kept and rejected",
            _fitting(console, _distributions(found.distributions), _distribution_lines(found.distributions)),
        ),
        ("What would keep more", _lines(advice(found))),
        ("Thresholds, the one that rejects most first", _fitting(console, _levers(found.levers), _lever_lines(found))),
        (
            "Nearest misses: pages that fail one threshold only",
            _fitting(console, _near(found.near_misses), _near_lines(found)),
        ),
    ]
    for title, body in sections:
        if body is not None:
            console.print()
            console.print(Text(title, "bold"))
            for part in body if isinstance(body, list) else [body]:
                is_address = isinstance(part, Text) and "://" in part.plain  # stays whole, to be copied
                if is_address:
                    console.print(" " * _INDENT, part, sep="", soft_wrap=True)
                else:
                    console.print(Padding(part, (0, 0, 0, _INDENT)))
    _show_examples(found, console)


def _fitting(
    console: Console, table: Table | None, narrow: RenderableType | list[Text] | None
) -> RenderableType | list[Text] | None:
    """The table where no cell of it has to be broken, else its narrow form."""
    if table is None:
        return None
    room = console.width - _INDENT
    return table if console.measure(table).maximum <= room else narrow


def _headline(found: Diagnosis) -> Text:
    rejected = found.total - found.kept - found.held
    line = Text.assemble((f"{found.kept:,}", "bold green"), " kept   ", (f"{rejected:,}", "bold yellow"), " rejected")
    if found.held:
        line.append(f"   {found.held:,} on hold", "cyan")
    return line.append(f"   of {found.total:,} from {found.source}", "dim")


def _reasons(found: Diagnosis, *, drawn: bool = True) -> Table | None:
    table = table_of("left", "left", "right", "right", *(["left"] if drawn else []))
    most = max((reason.count for reason in found.reasons), default=0)
    for reason in found.reasons:
        share = Text(f"{100 * reason.count / found.total:.1f} %", "dim")
        drawing = [bar(reason.count, most, "yellow")] if drawn else []
        table.add_row(Text(reason.stage, "dim"), reason.reason, f"{reason.count:,}", share, *drawing)
    return table if found.reasons else None


def _distributions(found: Iterable[Distribution]) -> Table:
    table = table_of("left", "left", "left", "left")
    for item in found:
        low, high = ends_of(item)
        for side, counts, colour in (("kept", item.kept, "green"), ("rejected", item.rejected, "yellow")):
            name = item.name if side == "kept" else ""
            axis = f"{low} … {high}" if side == "kept" else ""
            table.add_row(name, Text(side, "dim"), Text(_sparkline(counts), colour), Text(axis, "dim"))
    return table


def _distribution_lines(found: Iterable[Distribution]) -> Group:
    """The name and the ends of the axis in a line of their own."""
    lines: list[RenderableType] = []
    for item in found:
        table = table_of("left", "left")
        table.add_row(Text("  kept", "dim"), Text(_sparkline(item.kept), "green"))
        table.add_row(Text("  rejected", "dim"), Text(_sparkline(item.rejected), "yellow"))
        low, high = ends_of(item)
        lines += [Text.assemble(item.name, (f"  {low} … {high}", "dim")), table]
    return Group(*lines)


def ends_of(item: Distribution) -> tuple[str, str]:
    """The values at both ends of the axis."""
    if item.name != "word_count":
        return "0", "1"
    return f"{2**item.first_bin:,}", f"{2 ** (item.first_bin + len(item.kept)):,}"


def _sparkline(counts: list[int]) -> str:
    most = max(counts, default=0)
    return "".join(_SPARKS[-(-count * len(_SPARKS) // most) - 1] if count else "·" for count in counts)


def _lines(sentences: list[str]) -> Text | None:
    return Text("\n".join(sentences)) if sentences else None


def _levers(levers: list[Lever]) -> Table | None:
    table = table_of("left", "left", "right", "right", "right", "left", "left")
    table.columns[0].no_wrap = True
    _head(
        table,
        "threshold",
        "profile",
        "limit",
        "pages fail it",
        "fail no other",
        "another limit: more kept",
        "10 % stricter",
    )
    for lever in levers[:TOP_LEVERS]:
        limit = lever.limit
        table.add_row(
            limit.setting, Text(limit.profile, "dim"), written(limit.limit), f"{lever.missed:,}", f"{lever.alone:,}",
            ", ".join(_step(step, "+") for step in lever.relaxed),
            _step(lever.stricter, "-") if lever.stricter else "",
        )  # fmt: skip
    return table if levers else None


def _lever_lines(found: Diagnosis) -> Text | None:
    """Up to three lines a threshold: its name, below it what it does, and what it would do elsewhere."""
    lines: list[Text] = []
    for lever in found.levers[:TOP_LEVERS]:
        limit, fail = lever.limit, number_of(lever.missed, "page fails", "pages fail")
        lines.append(Text.assemble(limit.setting, (f" {limit.profile}", "dim")))
        lines.append(Text(f"  limit {written(limit.limit)}: {fail} it; {lever.alone:,} of them fail no other"))
        moved = [_step(step, "+") for step in lever.relaxed] + ([_step(lever.stricter, "-")] if lever.stricter else [])
        if moved:
            lines.append(Text(f"  pages kept with another limit: {', '.join(moved)}"))
    return Text("\n").join(lines) if lines else None


def _step(step: Step, sign: str) -> str:
    return f"{written(step.limit)}: {sign}{step.documents}"


def _near(misses: list[NearMiss]) -> Table | None:
    table = table_of("left", "right", "right", "left")
    table.columns[0].no_wrap = True
    _head(table, "threshold", "value", "limit", "page")
    for miss in misses:
        table.add_row(miss.setting, written(miss.value), written(miss.limit), Text(miss.url, "dim"))
    return table if misses else None


def _near_lines(found: Diagnosis) -> list[Text]:
    """Two lines a page: what it missed, and below which page it is."""
    return [
        line
        for miss in found.near_misses
        for line in (
            Text(f"{miss.setting}: value {written(miss.value)}, limit {written(miss.limit)}"),
            Text(f"  {miss.url}", "dim"),
        )
    ]


def _show_examples(found: Diagnosis, console: Console) -> None:
    """Side by side: the examples of one reason, or of what was kept."""
    groups = [("kept", found.kept_examples), *((f"{r.stage}/{r.reason}", r.examples) for r in found.reasons)]
    for name, samples in groups:
        if samples:
            console.print()
            console.print(Text(name, "bold green" if name == "kept" else "bold yellow"))
            table = Table(box=None, show_header=False, padding=(0, 3, 0, 2), pad_edge=False, expand=True)
            for _ in samples:
                table.add_column(ratio=1, overflow="fold")
            table.add_row(*(_example(sample) for sample in samples))
            console.print(table)


def _example(sample: Sample) -> Text:
    text = Text(sample.url, "underline")
    text.append(f"\n{sample.facts}", "not underline dim")
    if sample.excerpt:
        text.append(f"\n{sample.excerpt[:_EXCERPT]}", "not underline")
    return text


def _head(table: Table, *titles: str) -> None:
    table.show_header = True
    for column, title in zip(table.columns, titles, strict=True):
        column.header = Text(title, "dim")
