"""Explanations in a terminal: the answer first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crawler.document import Signal
from crawler.number import number_of, size
from crawler.policy.explain import WHERE, Answer, Explanation, FileRead
from crawler.policy.signals.base import ALLOW, DISALLOW
from crawler.policy.survey import GroupView, Survey

_COLOURS = {Answer.YES: "green", Answer.NO: "yellow", Answer.HOLD: "cyan"}
_ANSWERS = {Answer.YES: "YES", Answer.NO: "NO", Answer.HOLD: "ON HOLD"}
_PAGE_ANSWERS = {
    Answer.YES: "may be fetched and kept (language, quality and duplicates are judged later)",
    Answer.NO: "is not kept",
    Answer.HOLD: "cannot be judged now: it is not fetched, a later run tries again",
}
_HOST_ANSWERS = {
    Answer.YES: "its front page may be fetched",
    Answer.NO: "its front page is not kept",
    Answer.HOLD: "cannot be judged now: nothing is fetched, a later run tries again",
}
_SAYS = {"rules": "", "no_rules": "says nothing", "denied": "access denied", "hold": "cannot be read"}
_MARKS = {DISALLOW: ("✗", "yellow", "refuses training"), ALLOW: ("✓", "green", "allows training")}
_MOST_GROUPS = 40


def show_explanation(explanation: Explanation, console: Console) -> None:
    """Print the answer for one URL."""
    for redirect in explanation.redirects:
        console.print(Text.assemble(("redirected from ", "dim"), redirect), soft_wrap=True)
    console.print(Text(explanation.url, "underline"), soft_wrap=True)
    _show_answer(explanation.answer, _PAGE_ANSWERS, explanation.reason, explanation.because, console)
    _show_files(explanation.files, console)
    _show_signals(explanation.signals, console)
    console.print()


def show_survey(survey: Survey, console: Console) -> None:
    """Print what one host says."""
    console.print(Text(survey.authority, "underline"), soft_wrap=True)
    _show_answer(survey.answer, _HOST_ANSWERS, survey.reason, survey.because, console)
    _show_files(survey.files, console)
    _show_signals(survey.signals, console)
    if survey.groups:
        _section("Groups in robots.txt", _group_table(survey.groups), console)
    notes = Table.grid(padding=(0, 2, 0, 0))
    for label, values in (
        ("addresses us as", [survey.group] if survey.group else []),
        ("asks for a delay of", [f"{survey.delay_seconds:g} s"] if survey.delay_seconds else []),
        ("sitemap", survey.sitemaps[:_MOST_GROUPS]),
        ("licence", survey.licences),
    ):
        for value in values:
            notes.add_row(Text(label, "dim"), Text(value, overflow="fold"))
    if notes.row_count:
        _section("And", notes, console)
    console.print()


def show_identity(user_agent: str, profile: str, asked_at: str, console: Console) -> None:
    """Print who asked, and under which rules."""
    console.print(Text(f"requested as {user_agent}, profile {profile}, {asked_at}", "dim"), soft_wrap=True)


def _show_answer(answer: Answer, words: dict[Answer, str], reason: str, because: list[str], console: Console) -> None:
    head = Text.assemble("  ", (_ANSWERS[answer], f"bold {_COLOURS[answer]}"), f"  {words[answer]}")
    if reason:
        head.append(f"  ({reason})", "dim")
    console.print(head, soft_wrap=True)
    for sentence in because:
        console.print(Padding(Text(f"{sentence}."), (0, 0, 0, 6)))


def _show_files(files: list[FileRead], console: Console) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    several = len({file.url.partition(file.name)[0] for file in files if file.name == "robots.txt"}) > 1
    for file in files:
        status = "no answer" if file.status is None else str(file.status)
        notes = [_SAYS[file.says]] if _SAYS[file.says] else [size(file.size)]
        notes += ["an earlier copy serves"] if file.stale else []
        notes += [file.detail] if file.detail and file.says == "hold" else []
        name = file.url if several or file.name == "rsl" else file.name
        table.add_row(Text(name, overflow="fold"), status, Text(", ".join(notes)), Text(_age(file), "dim"))
    if table.row_count:
        _section("Files read", table, console)


def _age(file: FileRead) -> str:
    read, until = (datetime.fromisoformat(text) for text in (file.fetched_at, file.believed_until))
    when = f"read {read:%Y-%m-%d %H:%M} UTC" if file.stale else "read now"
    return f"{when}, good until {until:%Y-%m-%d %H:%M} UTC"


def _show_signals(signals: Iterable[Signal], console: Console) -> None:
    table = Table.grid(padding=(0, 2, 0, 0))
    for signal in signals:
        about_links = signal.value.rpartition(": ")[2] in {"nofollow", "none"}
        words = "about links; counts where it addresses all bots or us" if about_links else "recorded, decides nothing"
        mark, colour, meaning = _MARKS.get(signal.verdict, ("·", "dim", words))
        where = WHERE.get(signal.carrier, signal.carrier)
        value = Text(signal.value, overflow="fold")
        table.add_row(Text(mark, colour), signal.protocol, value, Text(f"{where}: {meaning}", colour))
    if table.row_count:
        _section("Statements seen", table, console)


def _group_table(groups: list[GroupView]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for group in groups[:_MOST_GROUPS]:
        mark = Text("may fetch /", "green") if group.home else Text("may not fetch /", "yellow")
        rules = number_of(group.rules, "rule")
        kind = Text("AI training bot" if group.training else "", "dim")
        table.add_row(Text(", ".join(group.agents), overflow="fold"), rules, mark, kind)
    if len(groups) > _MOST_GROUPS:
        table.add_row(Text(f"… and {len(groups) - _MOST_GROUPS:,} more", "dim"))
    return table


def _section(title: str, body: Table, console: Console) -> None:
    console.print(Text(f"  {title}", "bold"))
    console.print(Padding(body, (0, 0, 0, 4)))
