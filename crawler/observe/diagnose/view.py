"""A diagnosis for people: in a terminal, or as a page for a browser in the dress of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from string import Template

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawler.observe.diagnose.diagnosis import Diagnosis, Distribution, Lever, NearMiss, Reason, Step, advice
from crawler.observe.report.reasons import meaning
from crawler.observe.report.samples import Sample
from crawler.observe.report.terminal import bar
from crawler.observe.report.webpage import TEMPLATE
from crawler.storage.files.tally import SCORE_BINS

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
        ("Rejected, in the order of the flow", _fitting(console, _reasons(found), _reasons(found, drawn=False))),
        ("Scores, kept and rejected", _distributions(found.distributions)),
        ("What would keep more", _lines(advice(found))),
        ("Thresholds, the one that bites most first", _fitting(console, _levers(found.levers), _lever_lines(found))),
        (
            "Nearest misses: only this threshold keeps them out",
            _fitting(console, _near(found.near_misses), _near_lines(found)),
        ),
    ]
    for title, body in sections:
        if body is not None:
            console.print()
            console.print(Text(title, "bold"))
            console.print(Padding(body, (0, 0, 0, _INDENT)))
    _show_examples(found, console)


def _fitting(console: Console, table: Table | None, narrow: RenderableType | None) -> RenderableType | None:
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
    table = _table("left", "left", "right", "right", *(["left"] if drawn else []))
    most = max((reason.count for reason in found.reasons), default=0)
    for reason in found.reasons:
        share = Text(f"{100 * reason.count / found.total:.1f} %", "dim")
        drawing = [bar(reason.count, most, "yellow")] if drawn else []
        table.add_row(Text(reason.stage, "dim"), reason.reason, f"{reason.count:,}", share, *drawing)
    return table if found.reasons else None


def _distributions(found: Iterable[Distribution]) -> Table:
    table = _table("left", "left", "left", "left")
    for item in found:
        low, high = _ends(item)
        for side, counts, colour in (("kept", item.kept, "green"), ("rejected", item.rejected, "yellow")):
            name = item.name if side == "kept" else ""
            axis = f"{low} … {high}" if side == "kept" else ""
            table.add_row(name, Text(side, "dim"), Text(_sparkline(counts), colour), Text(axis, "dim"))
    return table


def _ends(item: Distribution) -> tuple[str, str]:
    if item.name != "word_count":
        return "0", "1"
    return f"{2**item.first_bin:,}", f"{2 ** (item.first_bin + len(item.kept)):,}"


def _sparkline(counts: list[int]) -> str:
    most = max(counts, default=0)
    return "".join(_SPARKS[-(-count * len(_SPARKS) // most) - 1] if count else "·" for count in counts)


def _lines(sentences: list[str]) -> Text | None:
    return Text("\n".join(sentences)) if sentences else None


def _levers(levers: list[Lever]) -> Table | None:
    table = _table("left", "left", "right", "right", "right", "left", "left")
    table.columns[0].no_wrap = True
    _head(table, "", "", "limit", "miss it", "only it", "moved", "10 % stricter")
    for lever in levers[:TOP_LEVERS]:
        limit = lever.limit
        table.add_row(
            limit.setting, Text(limit.profile, "dim"), f"{limit.limit:g}", f"{lever.missed:,}", f"{lever.alone:,}",
            ", ".join(_step(step, "+") for step in lever.relaxed),
            _step(lever.stricter, "-") if lever.stricter else "",
        )  # fmt: skip
    return table if levers else None


def _lever_lines(found: Diagnosis) -> Text | None:
    """Up to three lines a threshold: its name, below it what it does, and what it would do elsewhere."""
    lines: list[Text] = []
    for lever in found.levers[:TOP_LEVERS]:
        limit = lever.limit
        lines.append(Text.assemble(limit.setting, (f" {limit.profile}", "dim")))
        lines.append(Text(f"  limit {limit.limit:g}, {lever.missed:,} miss it, {lever.alone:,} only it"))
        moved = [_step(step, "+") for step in lever.relaxed] + ([_step(lever.stricter, "-")] if lever.stricter else [])
        if moved:
            lines.append(Text(f"  moved {', '.join(moved)}"))
    return Text("\n").join(lines) if lines else None


def _step(step: Step, sign: str) -> str:
    return f"{step.limit:g}: {sign}{step.documents}"


def _near(misses: list[NearMiss]) -> Table | None:
    table = _table("left", "right", "right", "left")
    table.columns[0].no_wrap = True
    _head(table, "", "value", "limit", "")
    for miss in misses:
        table.add_row(miss.setting, f"{miss.value:g}", f"{miss.limit:g}", Text(miss.url, "dim"))
    return table if misses else None


def _near_lines(found: Diagnosis) -> Text | None:
    """Two lines a page: what it missed, and below which page it is."""
    lines = [
        Text.assemble(f"{miss.setting}: {miss.value:g} for {miss.limit:g}\n  ", (miss.url, "dim"))
        for miss in found.near_misses
    ]
    return Text("\n").join(lines) if lines else None


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


def _table(*alignments: str) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for alignment in alignments:
        table.add_column(justify=alignment, overflow="fold")  # type: ignore[arg-type]  # "left" and "right" only
    return table


# --- for a browser ----------------------------------------------------------------------------------------------------


def page(found: Diagnosis) -> str:
    """The diagnosis as a complete HTML document, without scripts; everything from outside is escaped."""
    rejected = found.total - found.kept - found.held
    parts = (("kept", found.kept), ("not", rejected), ("hold", found.held))
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title="Diagnosis",
        subtitle=escape(" · ".join([found.source, *found.notes])),
        share="".join(f'<i class="{name}" style="flex:{count}"></i>' for name, count in parts if count),
        legend=f"{found.kept:,} kept, {rejected:,} rejected, {found.held:,} on hold",
        figures="",
        sections="\n".join(_sections(found)),
        footer=f"{found.total:,} documents",
    )


def _sections(found: Diagnosis) -> Iterator[str]:
    if sentences := advice(found):
        yield "<h2>What would keep more</h2><ul>" + "".join(f"<li>{escape(s)}</li>" for s in sentences) + "</ul>"
    if found.levers:
        yield "<h2>Thresholds, the one that bites most first</h2>" + _lever_rows(found.levers)
    yield "<h2>Scores, kept and rejected</h2><div class=two>" + "".join(map(_figure, found.distributions)) + "</div>"
    if found.near_misses:
        yield "<h2>Nearest misses</h2>" + _near_rows(found.near_misses)
    yield "<h2>Kept</h2><div class=two>" + "".join(map(_article, found.kept_examples)) + "</div>"
    for reason in found.reasons:
        yield _reason_section(reason, found.total)


def _lever_rows(levers: list[Lever]) -> str:
    head = (
        "<tr><th>threshold<th>profile<th class=n>limit<th class=n>miss it<th class=n>only it<th>moved<th>stricter</tr>"
    )
    rows = (
        f"<tr><td><code>{escape(v.limit.setting)}</code><td>{v.limit.profile}<td class=n>{v.limit.limit:g}"
        f"<td class=n>{v.missed:,}<td class=n>{v.alone:,}<td>{', '.join(_step(s, '+') for s in v.relaxed)}"
        f"<td>{_step(v.stricter, '-') if v.stricter else ''}</tr>"
        for v in levers
    )
    return f"<table>{head}{''.join(rows)}</table>"


def _near_rows(misses: list[NearMiss]) -> str:
    rows = (
        f"<tr><td><code>{escape(m.setting)}</code><td class=n>{m.value:g}<td class=n>{m.limit:g}"
        f"<td>{escape(m.url)}</tr>"
        for m in misses
    )
    return f"<table><tr><th>threshold<th class=n>value<th class=n>limit<th></tr>{''.join(rows)}</table>"


def _figure(item: Distribution) -> str:
    return "".join(
        f"<figure><figcaption>{item.name}, {side}</figcaption><div class=histogram>{_bars(counts, colour)}</div>"
        f"<div class=axis><span>{_ends(item)[0]}</span><span>{_ends(item)[1]}</span></div></figure>"
        for side, counts, colour in (("kept", item.kept, "kept"), ("rejected", item.rejected, "not"))
    )


def _bars(counts: list[int], colour: str) -> str:
    most = max([*counts, 1])
    return "".join(
        f'<i class="{colour}" style="height:{100 * c / most:.1f}%;background:var(--{colour})" title="{c:,}"></i>'
        for c in counts[: max(SCORE_BINS, len(counts))]
    )


def _reason_section(reason: Reason, total: int) -> str:
    title = f"{escape(reason.reason)}: {reason.count:,} ({100 * reason.count / total:.1f} %)"
    examples = "".join(map(_article, reason.examples))
    return f"<h2>{title}</h2><p class=soft>{escape(meaning(reason.reason))}</p><div class=two>{examples}</div>"


def _article(sample: Sample) -> str:
    text = f"<p>{escape(sample.excerpt)}</p>" if sample.excerpt else ""
    return (
        f'<article class="{"yes" if sample.kept else "no"}"><b>{escape(sample.title or sample.url)}</b>'
        f'<div class="soft url">{escape(sample.url)}<br>{escape(sample.facts)}</div>{text}</article>'
    )
