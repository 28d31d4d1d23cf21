"""A long replay says how far it is and, where the sizes are known, how long the rest takes."""

import io

from rich.console import Console

from crawler.observe.live.progress import ArchiveCounters, Counters, Progress


def test_the_time_left_follows_the_bytes_this_run_has_read():
    counters = ArchiveCounters(records=1200, read_bytes=3_000_000, before_bytes=1_000_000, total_bytes=9_000_000)
    assert counters.line(60.0) == "1,200 records, 3.0 MB of 9.0 MB read, about 3 min 00 s left"


def test_without_sizes_or_before_the_first_byte_no_time_is_promised():
    assert ArchiveCounters(5, 2000).line(10.0) == "5 records, 2.0 kB read"
    assert ArchiveCounters(0, 1000, 1000, 9000).line(10.0) == "0 records, 1.0 kB of 9.0 kB read"
    assert ArchiveCounters(9, 9000, 0, 9000).line(10.0) == "9 records, 9.0 kB of 9.0 kB read"


def test_a_replay_is_shown_with_its_archives_and_without_a_queue():
    now = iter(float(n) for n in range(100))
    screen = io.StringIO()
    progress = Progress(Console(file=screen, force_terminal=True, width=100), clock=lambda: next(now))
    counters = Counters(kept=7, archives=ArchiveCounters(9, 4000, 0, 8000))
    progress.start()
    progress.tick(counters)
    line = progress.line(counters)
    progress.stop()
    assert "archives  9 records, 4.0 kB of 8.0 kB read" in screen.getvalue()
    assert line.startswith("7 kept, 0 rejected, 9 records") and "queued" not in line
