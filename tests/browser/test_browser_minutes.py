"""The time that pages spend in a browser is counted, and has a price."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser.conftest import crawl, drawn, page, prose
from tests.support.loopback_web import PolicyWeb


def test_browser_time_is_counted_for_drawn_pages_only_and_costs_what_the_setting_says(
    tmp_path: Path, web: PolicyWeb
) -> None:
    routes = {"/drawn": drawn(prose("orchard")), "/plain": page(f"<main><p>{prose('ferry')}</p></main>")}
    here = web.site("127.0.0.2", routes)
    for name, urls in (("one", [f"{here}/drawn", f"{here}/plain"]), ("none", [f"{here}/plain"])):
        crawl(tmp_path / name, web, urls, COST_BROWSER_MINUTE="6")
        (run,) = json.loads((tmp_path / name / "manifest.json").read_bytes())["runs"]
        whole = json.loads((tmp_path / name / "stats.json").read_bytes())["accounts"]["whole"]
        if name == "none":
            assert "browser/ms" not in run["counters"] and whole["escalation_rate"] == whole["cost"] == 0
        else:
            spent = run["counters"]["browser/ms"]
            assert 0 < spent < 60_000 and whole["escalation_rate"] == 0.5
            assert whole["cost"] == pytest.approx(6 * spent / 60_000, abs=1e-6)
