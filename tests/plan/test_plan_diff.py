"""`plan diff` says what changed and what the next run brings; what then happens is held against it."""

from __future__ import annotations

from tests.plan.conftest import Desk, Mill, crawl_of


def test_the_next_run_fetches_keeps_and_costs_what_diff_has_said(desk: Desk) -> None:
    with Mill(60) as mill:
        text = crawl_of(mill, COST_REQUEST="1", CONCURRENT_REQUESTS_PER_DOMAIN="4", CONCURRENT_REQUESTS="4")
        desk.write(text + "limits: {run: {fetched: 20}}\n")
        assert desk.facts("diff")["crawls"][0]["fetch"] is None
        assert desk.plan("run").code == 0
        desk.write(text.replace(f"[{mill.url}/0]", f"['{mill.url}/0', 'http://127.0.0.2:{mill.port}/0']")
                   + "limits: {run: {fetched: 30}}\n")  # fmt: skip
        said = desk.facts("diff")
        assert {one["key"] for one in said["changes"]} == {"mill.settings.FRONTIER_BUDGET", "mill.url"}
        (crawl,) = said["crawls"]
        assert (crawl["fetch"], crawl["by"], crawl["left_out"]) == (30, "run.fetched: 30", {})
        before = desk.facts("status")["crawls"][0]["spent"]
        asked = len(mill.log)
        desk.write(text + "limits: {run: {fetched: 30}}\n")
        assert desk.plan("run").code == 0
        after = desk.facts("status")["crawls"][0]["spent"]
        assert abs(after["fetched"] - before["fetched"] - crawl["fetch"]) <= 3
        assert abs(after["kept"] - before["kept"] - crawl["keep"]) <= 3
        assert abs(len(mill.log) - asked - crawl["money"]) <= 0.2 * crawl["money"]
        desk.write(text.replace(f"{mill.url}/0", "http://127.0.0.3/"))
        kept = round(after["kept"])
        assert desk.facts("diff")["crawls"][0]["left_out"] == {"off_scope": kept}
