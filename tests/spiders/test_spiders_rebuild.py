"""What a rebuilt frontier remembers of a record."""

from __future__ import annotations

from crawler.config import from_mapping
from crawler.frontier.visits import visit_of_record
from crawler.recrawl.visit import Visit


def test_a_reason_of_another_version_leaves_no_visit_and_one_of_this_version_does():
    record = {"url": "https://a.example/", "stage": "frontier", "crawled_at": "2026-01-01T00:00:00.000Z"}
    assert visit_of_record(record | {"reason": "same_page"}, from_mapping().frontier, 0.0) == b""
    packed = visit_of_record(record | {"reason": "redirected"}, from_mapping().frontier, 0.0)
    assert not Visit.unpack(packed.partition(b"\t")[2]).kept
