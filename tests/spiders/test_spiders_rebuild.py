"""What a rebuilt frontier remembers of a record."""

from __future__ import annotations

from crawler.config import from_mapping
from crawler.recrawl.visit import Visit
from crawler.spiders.rebuild import _visit


def test_a_reason_of_another_version_leaves_no_visit_and_one_of_this_version_does():
    record = {"url": "https://a.example/", "stage": "frontier", "crawled_at": "2026-01-01T00:00:00.000Z"}
    assert _visit(record | {"reason": "same_page"}, from_mapping(), 0.0) == b""
    packed = _visit(record | {"reason": "redirected"}, from_mapping(), 0.0)
    assert not Visit.unpack(packed.partition(b"\t")[2]).kept
