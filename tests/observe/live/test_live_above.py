"""The log of a crawl on a terminal of 80 columns: every warning stays, above the live lines."""

import io
import logging
import os
import re
import tty

import pytest
from rich.console import Console

from crawler.observe.live.progress import Counters, Progress

WIDE = Counters(
    queued=1_234_567, leased=30, fetched=99_999, fetched_bytes=12_345_678_901, kept=45_678, held=1_234,
    domains=["a-rather-long-name.documentation.example.org", "another-long-name.example.org", "c.test", "d.test"],
    rejected={"quality/fineweb_line_punct_ratio": 12_345, "recrawl/unchanged": 9, "language/wrong_language": 54_321,
              "pii/held_pii": 3},
)  # fmt: skip


class Screen:
    """What a terminal shows of what was written: lines, returns, cursor up and erase (ECMA-48)."""

    def __init__(self) -> None:
        self.lines: list[str] = [""]
        self.row = 0

    def write(self, text: str) -> None:
        for part in re.findall(r"\x1b\[\??[0-9;]*[A-Za-z]|\n|\r|[^\x1b\r\n]+", text):
            if part == "\n":
                self.row += 1
                self.lines += [""] * (self.row - len(self.lines) + 1)
                self.column = 0
            elif part == "\r":
                self.column = 0
            elif part.endswith("A") and part.startswith("\x1b"):
                self.row -= int(part[2:-1] or 1)
            elif part == "\x1b[2K":
                self.lines[self.row] = ""
            elif not part.startswith("\x1b"):
                line = self.lines[self.row]
                self.lines[self.row] = line[: self.column] + part + line[self.column + len(part) :]
                self.column += len(part)

    column = 0


@pytest.fixture
def terminal():
    """A pseudo-terminal: the end that programs write to, and what has arrived at the other one."""
    reader, writer = os.openpty()
    tty.setraw(writer)
    os.set_blocking(reader, False)
    with os.fdopen(writer, "w", encoding="utf-8") as file:

        def arrived():
            file.flush()
            got = b""
            try:
                while block := os.read(reader, 65_536):
                    got += block
            except BlockingIOError:
                pass
            return got.decode()

        yield file, arrived
    os.close(reader)


def test_warnings_stand_above_the_live_lines_and_none_is_overwritten(terminal):
    file, arrived = terminal
    handler = logging.StreamHandler(file)
    logging.getLogger().addHandler(handler)
    now = iter(float(n) for n in range(1000))
    progress = Progress(Console(file=file, force_terminal=True, width=80), clock=lambda: next(now))
    try:
        progress.start()
        for number in range(5):
            progress.tick(WIDE)
            logging.getLogger("crawler.test").warning("warning %d of a site", number)
        progress.tick(WIDE)
        screen = Screen()
        screen.write(arrived())
        assert [line for line in screen.lines if "warning" in line] == [f"warning {n} of a site" for n in range(5)]
        live = screen.lines[5:]
        assert "45,678 kept" in live[0]
        assert sum("45,678 kept" in line for line in screen.lines) == 1
        progress.stop()
        logging.getLogger("crawler.test").warning("after the end")
        screen.write(arrived())
        assert "after the end" in "\n".join(screen.lines)
        assert handler.stream is file
    finally:
        logging.getLogger().removeHandler(handler)


def test_no_live_line_is_wider_than_eighty_columns_or_wraps():
    file = io.StringIO()
    now = iter(float(n) for n in range(1000))
    progress = Progress(Console(file=file, force_terminal=True, width=80), clock=lambda: next(now))
    progress.start()
    progress.tick(WIDE)
    screen = Screen()
    screen.write(file.getvalue())
    progress.stop()
    shown = [line for line in screen.lines if line.strip()]
    assert len(shown) == 5
    assert all(len(line.rstrip()) <= 80 for line in shown)
    assert "9 unchanged" in shown[0] and "3 for review" in shown[0] and shown[0].endswith("1,234 on hold")
    assert shown[1].endswith("pages/s") and "1,234,567 queued; time left: not known yet" in shown[2]


def test_handlers_of_files_are_left_alone(tmp_path):
    handler = logging.FileHandler(tmp_path / "log")
    logging.getLogger().addHandler(handler)
    progress = Progress(Console(file=io.StringIO(), force_terminal=True, width=80), clock=lambda: 0.0)
    try:
        progress.start()
        logging.getLogger("crawler.test").warning("to the file")
        assert "to the file" in (tmp_path / "log").read_text()
    finally:
        progress.stop()
        logging.getLogger().removeHandler(handler)
        handler.close()
