"""`plan diff` says what changed and what the next run brings; what then happens is held against it."""

from __future__ import annotations

from pathlib import Path

from bench.plan.diff import Campaign, measured
from crawler.plan.diff import changes, raised_caps
from crawler.plan.model import Plan
from crawler.plan.read import read
from crawler.plan.state import Runs
from crawler.plan.status import as_run
from crawler.runtime import known_settings
from tests.plan.conftest import Desk, Mill, crawl_of


def test_what_diff_says_of_an_entry_that_came_or_went_is_what_happens() -> None:
    rows = measured((Campaign.added, Campaign.removed), pages=20)
    by_chance = 4  # of twenty pages one in six is not kept, and which come within the limit is chance
    wrong = [row for row in rows if not row.holds]
    assert [row for row in wrong if row.figure != "kept" or abs(row.said - row.happened) > by_chance] == []
    assert len(rows) == 7


def test_a_plan_without_a_name_is_compared_with_its_last_run_by_the_name_of_its_file(tmp_path: Path) -> None:
    def planned(pages: int) -> Plan:
        text = f"corpus: c\nseeds: [https://example.org/]\nlimits: {{seed: {{fetched: {pages}}}}}\n"
        (tmp_path / "news.yaml").write_text(text)
        return read(tmp_path / "news.yaml", known_settings())

    Runs(planned(3)).begin("1")
    later = planned(5)
    assert [one["key"] for one in changes(later, known_settings())] == ["news.settings.FRONTIER_MAX_PAGES_PER_DOMAIN"]
    (said,) = raised_caps(later, known_settings())
    assert said.startswith("news: seed.fetched was 3 and is 5 now")
    begun = as_run(later, "1", known_settings())
    assert begun is not None and [one.name for one in begun.crawls] == ["news"]


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
