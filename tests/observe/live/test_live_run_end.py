"""What workers of one crawl tell of their ends becomes one summary, as if one worker had done it all."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from rich.text import Text

from crawler.observe.live import counters_pipe
from crawler.observe.live.run_end import sections, together, told_by
from crawler.statkeys import (
    DEADLY,
    DEADLY_EXAMPLES,
    MISSED_SITEMAPS,
    MISSED_SITEMAPS_EXAMPLES,
    SEEDS,
    SEEDS_KNOWN,
    STANDSTILL,
    WAITING,
)


def said(stats: dict[str, Any]) -> list[str]:
    return [f"{title}: {body.plain}" for title, body in sections(stats) if isinstance(body, Text)]


def test_how_much_waits_is_what_the_last_worker_says() -> None:
    stopped = {"finish_reason": "shutdown", WAITING: 30}
    assert said(together([stopped, {"finish_reason": "shutdown", WAITING: 28}], 5, {})) == [
        "Stopped before its end: 28 URLs wait in the frontier: the same crawl command continues"
    ]
    assert said(together([stopped, {"finish_reason": "finished"}], 5, {})) == [], "the other one finished the crawl"


def test_a_standstill_of_all_is_said_once() -> None:
    paused = {"finish_reason": "shutdown", WAITING: 3, STANDSTILL: "the crawl is paused"}
    assert said(together([paused, paused], 0, {})) == [
        "Nothing was judged in this run: the crawl is paused",
        "Stopped before its end: 3 URLs wait in the frontier: after `gristmill frontier resume` the same crawl command "
        "continues",
    ]


def test_a_seed_is_known_where_no_worker_was_the_first_to_put_it() -> None:
    known = {SEEDS: 2, SEEDS_KNOWN: 2}
    assert said(together([known, known], 0, {}))[0].startswith(
        "Nothing was judged in this run: 2 of 2 seeds were known"
    )
    assert said(together([{SEEDS: 2}, known], 0, {})) == []
    assert said(together([known, known], 0, {"fetch/gone": 1})) == []


def test_sitemaps_that_brought_nothing_are_added_up() -> None:
    one = {MISSED_SITEMAPS: 2, MISSED_SITEMAPS_EXAMPLES: ["a: gone", "b: gone"]}
    assert said(together([one, one], 1, {})) == ["Sitemaps that brought no pages: a: gone\nb: gone\na: gone\nb: gone"]
    assert said(together([one, {MISSED_SITEMAPS: 3}], 1, {})) == [
        "Sitemaps that brought no pages: a: gone\nb: gone\nand 3 more"
    ]
    assert said({MISSED_SITEMAPS: 1}) == ["Sitemaps that brought no pages: 1 file, named in the log"]


def test_a_worker_that_was_killed_has_told_nothing_and_the_others_have() -> None:
    assert said(together([], 1, {})) == []


@pytest.mark.parametrize(("long", "left"), [(10, 5), (2000, None)])
def test_what_a_worker_tells_at_its_end_fits_the_pipe(long: int, left: int | None) -> None:
    lines = ["x" * long] * 5
    told = told_by({WAITING: 7, MISSED_SITEMAPS: 5, MISSED_SITEMAPS_EXAMPLES: lines, "start_time": object()})
    readable, writable = os.pipe()
    extension = counters_pipe.CountersExtension(SimpleNamespace(), writable)  # type: ignore[arg-type]
    counters = {"rejected": {"fetch/gone": 1}, "domains": ["a"], "archives": None, "workers": []}
    extension._write({**counters, "told": told})
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        line = pipe.read()
    assert len(line) <= counters_pipe.MOST_BYTES
    found = orjson.loads(line)
    assert found["rejected"] == {"fetch/gone": 1}
    assert found["told"][WAITING] == 7
    assert len(found["told"].get(MISSED_SITEMAPS_EXAMPLES, [])) == (left or 0)


def test_pages_that_killed_their_workers_are_counted_over_all_workers_and_named() -> None:
    ends = [{"finish_reason": "finished", DEADLY: 1, DEADLY_EXAMPLES: [f"http://h/{n}: 4 workers died"]} for n in "ab"]
    (section,) = said(together([told_by(end) for end in ends], 5, {}))
    assert section.startswith("Given up: 2 pages were given up: every worker that had such a page alone in hand died")
    assert section.endswith("http://h/a: 4 workers died\nhttp://h/b: 4 workers died")
