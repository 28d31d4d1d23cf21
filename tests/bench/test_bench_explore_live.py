"""The bench of the live page looks at a real crawl with a real `gristmill explore`, and compares neighbours."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.speed.explore_live import HOSTS, Span, interval, measured, order, ratios


def test_a_crawl_is_looked_at_in_its_spans_and_in_no_other(tmp_path: Path) -> None:
    spans = measured(tmp_path, 1, 1.0, settled=HOSTS + 1)  # past the seeds, so that the stages are up
    assert [span.looking for span in spans] == [False, True, True, False]
    assert [span.events > 0 for span in spans] == [False, True, True, False]
    assert all(span.pages > 0 and span.cpu > 0 and span.seconds >= 1.0 for span in spans)


def test_spans_are_in_an_order_that_a_steady_change_does_not_favour() -> None:
    looked = order(4)
    assert looked[:8] == [False, True, True, False, True, False, False, True]
    assert looked[8:] == looked[:8]
    for at in range(0, 16, 2):
        assert looked[at] != looked[at + 1]
    places = [n for n, looking in enumerate(looked) if looking]
    assert sum(places) == sum(range(16)) - sum(places)


def _span(looking: bool, pages: int) -> Span:
    return Span(looking, pages, 10.0, 1.0, 0.1, 1)


def test_neighbours_are_compared_and_one_odd_span_does_not_decide() -> None:
    spans = [
        _span(False, 100),
        _span(True, 50),
        _span(True, 100),
        _span(False, 100),
        _span(False, 98),
        _span(True, 100),
    ]
    found = ratios(spans, lambda span: span.seconds)
    assert found == [pytest.approx(2.0), pytest.approx(1.0), pytest.approx(0.98)]
    middle, low, high = interval(found)
    assert middle == pytest.approx(1.0)
    assert low <= middle <= high
