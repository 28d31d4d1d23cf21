"""A run that did not bring what was asked for says so, with examples and how many there are beside them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy.settings import Settings
from scrapy.statscollectors import StatsCollector

from crawler.pipelines.brought import nothing_brought
from crawler.pipelines.settlement import MAX_EXAMPLES, Settlement
from crawler.statkeys import DEADLY, DEADLY_EXAMPLES, UNREAD_ARCHIVES, UNREAD_ARCHIVES_SAID


@pytest.mark.parametrize(
    ("count", "more"), [(2, None), (7, "and 5 more, which the log names"), (1_234, "and 1,232 more")]
)
def test_archives_that_are_not_named_are_counted(count, more):
    said = nothing_brought({UNREAD_ARCHIVES: count, UNREAD_ARCHIVES_SAID: ["a.warc: empty", "b.warc: torn"]})
    assert f"{count:,} archives could not be read" in said
    assert "a.warc: empty" in said and "b.warc: torn" in said
    assert (more in said) if more else ("more, which" not in said)


def test_the_first_examples_are_named_and_all_are_counted():
    settlement = Settlement.__new__(Settlement)
    settlement._crawler = SimpleNamespace(stats=StatsCollector(SimpleNamespace(settings=Settings())))
    for number in range(MAX_EXAMPLES + 3):
        settlement._count_example(DEADLY, DEADLY_EXAMPLES, f"https://a.example/{number}")
    stats = settlement._stats.get_stats()
    assert stats == {
        DEADLY: MAX_EXAMPLES + 3,
        DEADLY_EXAMPLES: [f"https://a.example/{number}" for number in range(MAX_EXAMPLES)],
    }
