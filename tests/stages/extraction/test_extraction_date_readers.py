"""htmldate's own parts are reached into only where they are the known ones."""

from __future__ import annotations

import sys

import htmldate.core
import htmldate.extractors
import pytest

from crawler.stages.extraction import metadata
from crawler.stages.extraction.metadata import dates
from crawler.stages.parse.stage import parse_html


@pytest.fixture(autouse=True)
def afresh():
    dates._readers.cache_clear()
    yield
    dates._readers.cache_clear()


HEAD = '<html><head><meta property="article:published_time" content="2024-03-05T10:00:00Z"></head><body>x</body></html>'


def forget_readers(monkeypatch):
    monkeypatch.delitem(sys.modules, "crawler.stages.extraction.metadata.date_readers", raising=False)
    monkeypatch.delattr(metadata, "date_readers", raising=False)


def test_a_missing_part_of_htmldate_costs_its_own_order_and_not_the_date(monkeypatch, caplog):
    monkeypatch.delattr(htmldate.extractors, "extract_url_date")
    forget_readers(monkeypatch)
    tree = parse_html(HEAD)
    assert dates.read_date(tree, "https://example.org/", (), "2026-01-01") == "2024-03-05"
    assert dates.read_date(tree, "https://example.org/", (), "2023-01-01") is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "extract_url_date" in caplog.text


def test_a_part_of_htmldate_that_takes_other_arguments_is_as_good_as_missing(monkeypatch, caplog):
    monkeypatch.setattr(htmldate.core, "json_search", lambda tree: None)
    forget_readers(monkeypatch)
    assert dates.read_date(parse_html(HEAD), "https://example.org/", (), "2026-01-01") == "2024-03-05"
    assert "takes other arguments now" in caplog.text
