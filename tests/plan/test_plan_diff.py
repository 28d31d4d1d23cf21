"""`plan diff` says what changed and what the next run brings; what then happens is held against it."""

from __future__ import annotations

from bench.plan.diff import Campaign, measured
from tests.plan.conftest import Desk, Mill, crawl_of


def test_what_diff_says_of_an_entry_that_came_or_went_is_what_happens() -> None:
    rows = measured((Campaign.added, Campaign.removed), pages=20)
    by_chance = 4  # of twenty pages one in six is not kept, and which come within the limit is chance
    wrong = [row for row in rows if not row.holds]
    assert [row for row in wrong if row.figure != "kept" or abs(row.said - row.happened) > by_chance] == []
    assert len(rows) == 7


def test_nothing_is_estimated_before_the_first_run_and_seeds_that_left_are_counted_by_reason(desk: Desk) -> None:
    with Mill(4) as mill:
        text = crawl_of(mill)
        desk.write(text)
        assert desk.facts("diff")["crawls"][0]["fetch"] is None
        assert desk.plan("run").code == 0
        desk.write(text.replace(f"{mill.url}/0", "http://127.0.0.3/") + "recrawl: true\n")
        said = desk.facts("diff")
        assert {one["key"] for one in said["changes"]} == {"mill.settings.RECRAWL", "mill.url"}
        assert said["crawls"][0]["left_out"] == {"off_scope": 4}
        assert (said["crawls"][0]["fetch"], said["crawls"][0]["due"]) == (0, 0)
