"""A long replay says how much is judged and, where the sizes are known, how long the rest takes."""

import io

from rich.console import Console

from crawler.observe.live.progress import ArchiveCounters, Counters, Progress


def said(*moments, width=100):
    """The last line of a log after such moments: second, kept, judged bytes, all bytes."""
    now = [0.0]
    progress = Progress(Console(file=io.StringIO(), width=width), clock=lambda: now[0])
    progress.start()
    counters = Counters()
    for second, kept, judged, total in moments:
        now[0] = second
        counters = Counters(kept=kept, archives=ArchiveCounters(judged, total))
        progress.tick(counters)
    return progress.line(counters)


def test_the_time_left_follows_the_bytes_that_are_judged():
    line = said((0.0, 1, 1_000_000, 9_000_000), (20.0, 50, 3_000_000, 9_000_000))
    assert "3.0 MB of 9.0 MB judged, about 1 min 00 s left" in line


def test_the_pace_is_that_of_the_last_minute():
    slow = [(float(n), 1 + n, 1000 * n, 9_000_000) for n in range(300)]
    fast = [(300.0 + n, 300 + n, 3_000_000 + 50_000 * n, 9_000_000) for n in range(61)]
    assert "about 1 min 00 s left" in said(*slow, *fast)


def test_the_minutes_until_the_models_are_loaded_are_no_pace():
    loading = [(float(n), 0, 0, 8_000_000) for n in range(120)]
    judging = [(120.0 + n, 1 + n, 100_000 * n, 8_000_000) for n in range(41)]
    assert "left" not in said(*loading, *judging[:5])
    assert "4.0 MB of 8.0 MB judged, about 40.0 s left" in said(*loading, *judging)


def test_the_moments_before_the_archives_are_listed_are_no_empty_queue():
    listing = [(float(n), 0, 0, None) for n in range(3)]
    assert "about 20.0 s left" in said(*listing, (3.0, 1, 0, 4_000_000), (23.0, 50, 2_000_000, 4_000_000))


def test_what_an_earlier_run_has_judged_is_done_and_no_pace():
    line = said((0.0, 1, 5_000_000, 9_000_000), (20.0, 2, 6_000_000, 9_000_000))
    assert "6.0 MB of 9.0 MB judged, about 1 min 00 s left" in line


def test_without_sizes_without_progress_and_at_the_end_no_time_is_promised():
    assert said((0.0, 1, 0, None), (20.0, 5, 2000, None)).startswith("5 kept, 0 rejected, 2.0 kB judged, ")
    assert "1.0 kB of 9.0 kB judged, 0" in said((0.0, 1, 1000, 9000), (20.0, 1, 1000, 9000))
    assert "9.0 kB of 9.0 kB judged, 0" in said((0.0, 1, 1000, 9000), (20.0, 9, 9000, 9000)).replace("0.4", "0")


def test_a_replay_is_shown_with_its_archives_and_without_a_queue():
    now = iter(float(n) for n in range(100))
    screen = io.StringIO()
    progress = Progress(Console(file=screen, force_terminal=True, width=100), clock=lambda: next(now))
    counters = Counters(kept=7, archives=ArchiveCounters(4000, 8000))
    progress.start()
    progress.tick(counters)
    line = progress.line(counters)
    progress.stop()
    assert "archives  4.0 kB of 8.0 kB judged" in screen.getvalue()
    assert line.startswith("7 kept, 0 rejected, 4.0 kB of 8.0 kB judged") and "queued" not in line
