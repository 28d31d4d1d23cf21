"""Progress: live on a terminal, one line every thirty seconds elsewhere, nothing in between."""

import io
import json
import logging
from types import SimpleNamespace

import pytest
from rich.console import Console

from crawler import settings
from crawler.observe.live.counted import own_counters
from crawler.observe.live.json_log import JsonFormatter
from crawler.observe.live.progress import Counters, Progress
from crawler.statkeys import rejected_by

COUNTERS = Counters(
    queued=40, leased=3, fetched=12, fetched_bytes=5000, kept=7, held=2, domains=["a.test", "b.test"],
    rejected={"quality/low_quality": 3, "policy/optout": 1},
)  # fmt: skip


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_page_that_is_gone_again_is_unchanged_in_the_live_line_as_in_the_summary():
    stats = {"recrawl/unchanged": 5, "outcome/rejected/fetch/unchanged": 3, "outcome/rejected/fetch/gone": 4}
    found = own_counters(SimpleNamespace(stats=SimpleNamespace(get_stats=lambda: stats)))
    progress = Progress(Console(file=io.StringIO()), clock=Clock())
    assert progress.line(found).startswith("0 kept, 2 rejected, 5 unchanged, ")


def test_a_paused_crawl_says_so_and_how_it_goes_on_in_place_of_the_time_left(clock):
    stream = io.StringIO()
    progress = Progress(Console(file=stream, width=80, force_terminal=True), clock=clock, live=True)
    progress.start()
    paused = Counters(queued=2_776, kept=9, paused=True)
    progress.tick(paused)
    progress.stop()
    assert "2,776 queued; paused: `gristmill frontier resume` goes on" in stream.getvalue()
    assert "paused: `gristmill frontier resume` goes on" in progress.line(paused)


@pytest.mark.parametrize(
    ("level", "formatted"),
    [("INFO", "text"), ("WARNING", "text"), ("WARNING", "json"), ("ERROR", ""), ("CRITICAL", "")],
)
def test_that_line_is_shown_with_the_log_level_of_a_crawl_whose_settings_say_nothing(clock, level, formatted):
    """Scrapy's handler of the root logger, as a crawl has it; LOG_LEVEL is WARNING there."""
    assert settings.LOG_LEVEL == "WARNING"
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setLevel(level)
    handler.setFormatter(
        JsonFormatter("main", "w") if formatted == "json" else logging.Formatter("%(levelname)s: %(message)s")
    )
    logging.getLogger().addHandler(handler)
    try:
        progress = Progress(Console(file=io.StringIO()), clock=clock)
        progress.start()
        clock.now = 31.0
        progress.tick(Counters(kept=7))
        progress.stop()
    finally:
        logging.getLogger().removeHandler(handler)
    said = stream.getvalue()
    if formatted == "json":
        assert json.loads(said)["message"].startswith("7 kept")
    else:
        assert said.startswith("INFO: 7 kept, 0 rejected" if formatted else "")
    assert bool(said) == bool(formatted)


def test_without_a_terminal_nothing_is_drawn_and_a_line_is_logged_every_thirty_seconds(clock, caplog):
    console = Console(file=io.StringIO())
    progress = Progress(console, clock=clock)
    progress.start()
    with caplog.at_level(logging.INFO, logger="crawler.observe.live.progress"):
        for second in range(1, 65):
            clock.now = float(second)
            progress.tick(COUNTERS)
    progress.stop()
    assert console.file.getvalue() == ""
    assert len(caplog.messages) == 2
    assert "7 kept, 4 rejected, 2 on hold, 12 fetched, 40 queued, 3 leased" in caplog.messages[0]


def test_on_a_terminal_the_numbers_are_drawn_and_removed_at_the_end(clock):
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    progress = Progress(console, clock=clock)
    progress.start()
    clock.now = 2.0
    progress.tick(COUNTERS)
    drawn = console.file.getvalue()
    progress.stop()
    progress.stop()
    assert "7 kept" in drawn and "4 rejected" in drawn and "40 queued" in drawn
    assert "quality/low_quality 3" in drawn and "a.test, b.test" in drawn
    assert console.file.getvalue().endswith("\x1b[2K") or "\x1b[2K" in console.file.getvalue()[len(drawn) :]


def test_the_rate_is_that_of_the_last_ten_seconds(clock):
    progress = Progress(Console(file=io.StringIO()), clock=clock)
    progress.start()
    for second in range(1, 31):
        clock.now = float(second)
        progress.tick(Counters(kept=0 if second <= 20 else 5 * (second - 20)))
    assert progress.rate() == pytest.approx(5.0)


def test_a_rate_before_any_time_has_passed_is_zero(clock):
    progress = Progress(Console(file=io.StringIO()), clock=clock)
    progress.start()
    assert progress.rate() == 0.0


def test_rejections_are_read_from_the_counters_of_the_crawl():
    stats = {"outcome/kept": 3, "outcome/rejected/quality/low_quality": 2, "outcome/storage_error": "x"}
    assert rejected_by(stats) == {"quality/low_quality": 2}
