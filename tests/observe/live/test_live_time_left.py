"""How long a crawl still takes: what limits and queue say together, or why nobody knows."""

import io

from rich.console import Console

from crawler.config.limits import Limits
from crawler.observe.live.progress import Counters, Progress
from crawler.observe.live.time_left import Moment, TimeLeft
from crawler.observe.outcomes import outcomes


def after(limits, *moments):
    left = TimeLeft(limits, started=0.0)
    for moment in moments:
        left.remember(Moment(*moment))
    return left.sentence()


def test_a_queue_that_gets_shorter_says_when_it_is_empty():
    assert after(Limits(), (0.0, 0, 0, 400), (20.0, 10, 30, 300)) == "about 1 min 00 s left"


def test_a_queue_that_grew_first_and_gets_shorter_now_says_when_it_is_empty():
    begun = (0.0, 0, 0, 3)
    assert after(Limits(), begun, (10.0, 1, 9, 100), (30.0, 20, 80, 20)) == "about 5.0 s left"
    assert after(Limits(), begun, (15.0, 1, 9, 100), (20.0, 9, 40, 60)) == "time left: unknown, the queue grows"


def test_a_queue_that_grows_without_a_limit_is_an_honest_unknown():
    assert after(Limits(), (0.0, 0, 0, 400), (20.0, 10, 30, 900)) == "time left: unknown, the queue grows"
    assert after(Limits(), (0.0, 0, 0, 4), (20.0, 0, 0, 4)) == "time left: unknown, the queue does not get shorter"


def test_a_limit_of_kept_documents_counts_even_while_the_queue_grows():
    assert after(Limits(kept=100), (0.0, 0, 0, 4), (20.0, 40, 60, 900)) == "about 30.0 s left"


def test_the_nearest_of_several_ends_is_named():
    assert after(Limits(kept=100, seconds=25.0), (0.0, 0, 0, 4), (20.0, 40, 60, 900)) == "about 5.0 s left"
    assert after(Limits(pages=100), (0.0, 0, 0, 4000), (20.0, 40, 90, 3000)) == "about 2.2 s left"


def test_nothing_is_promised_from_the_first_seconds_or_of_a_limit_that_does_not_come_nearer():
    assert after(Limits(kept=100), (0.0, 0, 0, 4), (5.0, 40, 60, 2)) == "time left: not known yet"
    assert after(Limits(kept=100), (0.0, 3, 0, 4), (30.0, 3, 60, 9)) == "time left: unknown, the queue grows"
    assert after(Limits()) == "time left: not known yet"
    assert after(Limits(), (0.0, 9, 9, 0)) == "the queue is empty"
    assert after(Limits(), (0.0, 0, 0, 0)) == "time left: not known yet"  # seeds are still on their way


def test_the_pace_is_that_of_the_last_minute():
    slow = [(float(n), 0, 0, 1000) for n in range(300)]
    fast = [(300.0 + n, 0, 0, 1000 - 10 * n) for n in range(61)]
    assert after(Limits(), *slow, *fast) == "about 40.0 s left"


def test_what_waits_and_what_is_unchanged_is_not_rejected_and_each_page_counts_once():
    found = outcomes({"recrawl/unchanged": 5, "robots/hold_robots_unreachable": 2, "pii/held_pii": 1, "exact/dup": 4})
    assert found.rejected == {"exact/dup": 4}
    assert (found.rejections, found.on_hold, found.for_review, found.unchanged) == (4, 2, 1, 5)
    assert found.judged == 10


def test_the_line_of_a_log_tells_unchanged_from_rejected_and_ends_with_the_time_left():
    now = [0.0]
    progress = Progress(Console(file=io.StringIO()), clock=lambda: now[0])
    progress.start()
    for second in range(31):
        now[0] = float(second)
        progress.tick(Counters(queued=90 - second, kept=second, held=2, rejected={"recrawl/unchanged": 5, "a/b": 1}))
    said = progress.line(Counters(queued=60, kept=30, held=2, rejected={"recrawl/unchanged": 5, "a/b": 1}))
    assert said.startswith("30 kept, 1 rejected, 5 unchanged, 2 on hold, ")
    assert said.endswith("about 1 min 00 s left")
