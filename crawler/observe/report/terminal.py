"""The summary in a terminal: what was kept, what was not and why, where it is, what to do next."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawler.loading import program
from crawler.number import duration, number_of, size
from crawler.observe.report import quarantine
from crawler.observe.report.browser import drawn_per_cent, missed_sentence
from crawler.observe.report.recrawl import Recrawl
from crawler.observe.report.samples import Sample
from crawler.observe.report.summary import LATER, PARKED, UNCOVERED, WITHHELD, Summary, Verdicts

BAR = 24
TOP = 10
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def show(summary: Summary, console: Console, more: Iterable[tuple[str, RenderableType]] = ()) -> None:
    """Print the summary and `more` sections. Colours vanish by themselves where the output is no terminal."""
    console.print()
    if summary.standing:
        console.print(Text(summary.standing))
    console.print(_headline(summary))
    console.print(_share(summary, console.width))
    console.print(_figures(summary))
    if summary.unsealed:
        console.print(Text(unsealed_sentence(summary.unsealed), "dim"))
    if summary.not_drawn:
        console.print(Text(missed_sentence(summary.not_drawn), "yellow"))
    if summary.recrawl is not None:
        console.print(_recrawl(summary.recrawl))
    for title, body in [*_sections(summary, bar_width(console.width)), *more]:
        console.print()
        console.print(Text(title, style="bold"))
        console.print(Padding(body, (0, 0, 0, 2)))
    _show_next_steps(summary, console)
    console.print()


def unsealed_sentence(files: int) -> str:
    """What the figures have of files in progress, and where these are not counted."""
    return (
        f"{number_of(files, 'file is', 'files are')} still being written: counted here, but not in accounts, "
        "duplicates, requests and samples."
    )


def show_samples(samples: Iterable[Sample], console: Console) -> None:
    """Print sample documents, kept and rejected, with the beginning of their texts."""
    for sample in samples:
        style = "green" if sample.kept else "yellow"
        console.print(Text.assemble((sample.verdict, f"bold {style}"), "  ", (sample.url, "underline")))
        if sample.facts:
            console.print(Text("  " + sample.facts, style="dim"))
        if sample.excerpt:
            console.print(Padding(Text(sample.excerpt), (0, 0, 0, 2)))
        console.print()


def _headline(summary: Summary) -> Text:
    line = Text.assemble(
        (_n(summary.kept), "bold green"), " kept   ", (_n(summary.rejected), "bold yellow"), " rejected"
    )
    if summary.held:
        line.append(f"   {_n(summary.held)} on hold", "cyan")
    if summary.withheld:
        line.append(f"   {_n(summary.withheld)} held for review", "magenta")
    if summary.unchanged:
        line.append(f"   {_n(summary.unchanged)} unchanged", "dim")
    return line


def _figures(summary: Summary) -> Text:
    parts = [f"{_n(summary.words)} words"]
    if summary.tokens:
        parts.append(f"about {_n(summary.tokens)} tokens")
    if summary.pages_per_second is not None:
        parts.append(f"{summary.pages_per_second:.1f} pages/s over {duration(summary.seconds)}")
    return Text(" · ".join(parts), "dim")


def _recrawl(latest: Recrawl) -> Text:
    parts = [latest.findings()]
    if latest.not_sent_bytes:
        parts.append(f"{size(latest.not_sent_bytes)} not sent again, {size(latest.received_bytes)} received")
    if latest.saved_cpu_ms:
        parts.append(f"{latest.not_parsed:,} not parsed again: about {latest.saved_cpu_ms / 1000:,.1f} s CPU saved")
    if outlook := latest.outlook():
        parts.append(outlook)
    if left := latest.left():
        parts.append(left)
    return Text.assemble(("This run  ", "bold"), ("; ".join(parts), "dim"))


def _share(summary: Summary, console_width: int) -> Text:
    width = min(64, console_width)
    total = max(1, summary.kept + summary.rejected + summary.withheld + summary.held)
    kept = round(width * summary.kept / total)
    held = round(width * summary.held / total)
    withheld = round(width * summary.withheld / total)
    rest = max(0, width - kept - withheld - held)
    parts = ((kept, "green"), (rest, "yellow"), (withheld, "magenta"), (held, "cyan"))
    return Text.assemble(*(("━" * length, colour) for length, colour in parts))


def _sections(summary: Summary, room: int) -> Iterable[tuple[str, RenderableType]]:
    if summary.rejections:
        yield "Rejected, in the order of the stages", _verdict_table(summary.rejections, "yellow", room)
    for title, held in summary.on_hold.items():
        yield title, _verdict_table(held, "cyan", room)
    if summary.parked:
        yield _title(PARKED, summary.parked), _count_table(summary.parked, "cyan", room)
    if summary.domains or summary.rejected_domains:
        yield _title("Domains", summary.domains | summary.rejected_domains), _domain_table(summary, room)
    if shares := drawn_per_cent(summary.drawn):
        yield _title("Pages drawn in a browser, per cent", shares), _count_table(shares, "green", room)
    if summary.quarantined:
        yield "In quarantine", _quarantine(summary.quarantined)
    types, expected = summary.page_types, summary.confidences
    licences = summary.licences_and_none if summary.licences else {}
    for title, counts, colour in (
        (_title("Kept, by language", summary.languages), summary.languages, "green"),
        (WITHHELD, summary.withheld_languages, "magenta"),
        (UNCOVERED, summary.names_uncovered, "yellow"),
        (_title("Kept, by licence", licences), licences, "green"),
        (f"Page types, as the extractor classifies them{summary.unread_by_model(types)}", types, "green"),
        (f"Expected extraction quality (F1){summary.unread_by_model(expected)}", expected, "green"),
        (summary.annotated, summary.annotations, "green"),
        ("Requests, by proxy", summary.proxies, "green"),
        ("Times that a proxy did not serve", summary.proxy_failures, "yellow"),
        ("Links left out, counted on every page", summary.left_out, "yellow"),
    ):
        if counts:
            yield title, _count_table(counts, colour, room)
    yield f"Files in {summary.where}", _folder_table(summary)


def _verdict_table(verdicts: list[Verdicts], colour: str, room: int) -> Table:
    table = table_of("left", "left", "right", "left")
    most = max(verdict.count for verdict in verdicts)
    previous = None
    for verdict in verdicts:
        stage = "" if verdict.stage == previous else verdict.stage
        previous = verdict.stage
        table.add_row(Text(stage, "dim"), verdict.reason, _n(verdict.count), bar(verdict.count, most, colour, room))
    return table


def _domain_table(summary: Summary, room: int) -> Table:
    table = table_of("left", "right", "right", "left")
    table.show_header = True
    for column, title in zip(table.columns, ("", "kept", summary.not_kept, ""), strict=True):
        column.header = Text(title, "dim")
    names = {**summary.domains, **summary.rejected_domains}
    total = {name: summary.domains.get(name, 0) + summary.rejected_domains.get(name, 0) for name in names}
    ranked = sorted(total, key=lambda name: (-total[name], name))[:TOP]
    for name in ranked:
        kept, rejected = summary.domains.get(name, 0), summary.rejected_domains.get(name, 0)
        most = total[ranked[0]]
        whole = bar(kept, most, "green", room) + bar(rejected, most, "yellow", room)
        table.add_row(name, _n(kept), Text(_n(rejected), "dim"), whole)
    return table


def _quarantine(found: dict[str, float]) -> Text:
    lines = [f"{domain}  {100 * share:.1f} % of its latest bytes were text" for domain, share in found.items()]
    return Text("\n".join([*lines, quarantine.MEANING]))


def _count_table(counts: Mapping[str, float], colour: str, room: int) -> Table:
    table = table_of("left", "right", "left")
    most = max(counts.values())
    for name, count in list(counts.items())[:TOP]:
        table.add_row(name, _n(count), bar(count, most, colour, room))
    return table


def _folder_table(summary: Summary) -> Table:
    table = table_of("left", "right", "right", "left")
    for folder in summary.folders:
        notes = []
        if folder.uncompressed and folder.uncompressed != folder.size:
            notes.append(f"{size(folder.uncompressed)} uncompressed")
        if folder.growing:
            notes.append(f"{folder.growing} in progress" + ("" if summary.unsealed else ", not counted yet"))
        table.add_row(
            folder.name + "/", number_of(folder.files, "file"), size(folder.size), Text(", ".join(notes), "dim")
        )
    table.add_row("manifest.json", "", "", Text("hashes, counts, versions and runs", "dim"))
    return table


def _show_next_steps(summary: Summary, console: Console) -> None:
    """Commands stand on one line each, however long, so that they can be copied."""
    where, ours = shlex.quote(summary.where), shlex.quote(called())
    if not any(folder.documents for folder in summary.folders):
        return
    steps = [
        ("read samples", f"{ours} report --samples 5 {where}"),
        ("histograms, for a browser", f"{ours} report --html {where}"),
        ("check every hash and line", f"{ours} dataset verify {where}"),
    ]
    if summary.recrawl is not None and summary.recrawl.opted_out:
        steps.append(("who still has what opted out", f"{ours} dataset lineage --withdrawn {where}"))
    if summary.withheld:
        steps.append(("decide on the held pages", f"{ours} dataset held list {where}"))
    if later := sum(verdict.count for verdict in summary.on_hold.get(LATER, ())):
        steps.append((f"try the {_n(later)} on hold", "the same crawl command again, later"))
    if summary.parked:
        steps.append(
            ("ask for what is parked", f"{ours} frontier requeue parked --out {where}, then the crawl command")
        )
    console.print()
    console.print(Text("Next", style="bold"))
    for why, command in steps:
        console.print(Text.assemble("  ", (f"{why:<27}", "dim"), (command, "bold cyan")), soft_wrap=True)


def called() -> str:
    """How this person can call the program: by its name where the shell finds it, else by its place beside Python."""
    beside = Path(sys.executable).with_name(program())
    if shutil.which(program()) or not beside.exists():
        return program()
    return str(beside.relative_to(Path.cwd())) if beside.is_relative_to(Path.cwd()) else str(beside)


def table_of(*alignments: str) -> Table:
    """A table without lines and heads: columns on their sides, long words broken."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for alignment in alignments:
        table.add_column(justify=alignment, overflow="fold")  # type: ignore[arg-type]  # "left" and "right" only
    return table


def _title(name: str, counts: Mapping[str, float]) -> str:
    return f"{name} ({TOP} of {_n(len(counts))})" if len(counts) > TOP else name


def bar_width(console_width: int) -> int:
    """Characters of the longest bar: on a narrow terminal the names beside it stay whole."""
    return max(6, min(BAR, console_width - 46))


def bar(value: float, most: float, colour: str, room: int = BAR) -> Text:
    """A bar as long as `value` is of `most`, of at most `room` characters."""
    eighths = max(1 if value else 0, round(8 * room * value / most)) if most else 0
    return Text("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip(), colour)


def _n(number: float) -> str:
    return f"{number:,}"
