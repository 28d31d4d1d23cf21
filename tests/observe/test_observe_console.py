"""What is printed into a file or a pipe has no blanks at the ends of its lines."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from crawler.observe.console import answers_on
from crawler.observe.report import terminal
from crawler.observe.report.summary import summarise
from tests.support.process import scrapy


def padded(text: str) -> list[str]:
    return [line for line in text.splitlines() if line != line.rstrip()]


def table() -> Table:
    made = Table(box=None)
    made.add_column()
    made.add_column()
    made.add_row("a long line", "b")
    made.add_row("a", "")
    return made


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_blanks_at_the_ends_of_lines_reach_a_terminal_only() -> None:
    screen, pipe = Screen(), io.StringIO()
    for out in (screen, pipe):
        console = answers_on(out)
        console.print(table())
        console.print("  what stands in front stays, as does what is between  the words")
    assert padded(screen.getvalue())
    assert padded(pipe.getvalue()) == []
    assert pipe.getvalue().endswith("  what stands in front stays, as does what is between  the words\n")


def test_the_summary_that_a_crawl_prints_has_none(folder, capsys) -> None:
    folder.filled(range(3))
    terminal.show(summarise(str(folder.path)), answers_on())
    said = capsys.readouterr().out
    assert "3 kept" in said and padded(said) == []


@pytest.mark.parametrize(
    "command",
    [("report",), ("report", "--samples", "3"), ("report", "--by", "domain"), ("diagnose",)],
    ids=" ".join,
)
def test_no_command_pads_its_lines_where_they_are_piped(folder, command) -> None:
    folder.filled(range(3))
    done = scrapy(*command, folder.path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") > 3 and padded(done.stdout) == []
