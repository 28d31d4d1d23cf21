"""The table of `docs/policy-table.md`, crawled for real: one site for each way to say no, and for each way to fail."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from bench.quality.optout_table import PAGE, measure_ours, render, stock_column
from crawler.policy.signals.registry import DETECTORS
from tests.middlewares.wire.policy_cases import CASES, PROFILES, Case
from tests.support.corpus_crawl import CorpusCrawl, replay
from tests.support.loopback_web import FORBIDDEN

RECORDED_ONLY = {"creative-commons", "ai-policy", "llms.txt"}
INSIDE_FILES = {"plus-data-mining", "pdf-permissions"}
"""What no page says: `tests/stages/documents` reads it out of files."""


@pytest.mark.parametrize("profile", PROFILES)
def test_every_case_ends_as_the_table_says_with_its_evidence_and_without_a_trace_of_its_text(profile, tmp_path):
    started = time.time()
    measured = measure_ours(tmp_path, profile)
    crawl, urls = measured.crawl, measured.urls
    assert crawl.returncode == 0, crawl.log[-3000:]
    assert measured.asked[FORBIDDEN] == []

    wrong = {case.what: (measured.outcomes[case], case.expected(profile)) for case in CASES}
    assert {what: pair for what, pair in wrong.items() if pair[0] != pair[1]} == {}
    assert [case.what for case in CASES if len(_page_requests(measured.asked[case.address])) > 1] == []

    records = {case: crawl.kept.get(url) or crawl.rejected[url] for case, url in urls.items()}
    assert [case.what for case, record in records.items() if not _dated(record, started)] == []
    if profile == "strict":
        assert [(c.what, r["detail"]) for c, r in records.items() if c.detail and c.detail not in r["detail"]] == []
        assert [(c.what, r["optout_signals"]) for c, r in records.items() if not _shows(c, r)] == []

    if profile == "strict":
        again = replay(crawl.folder / "archive", tmp_path / "again", OPTOUT_PROFILE=profile)
        assert _permissions(again.kept) == _permissions(crawl.kept)
        assert again.rejected == {}

    assert _traces(crawl, {case for case in CASES if case.expected(profile) != "kept"}) == []
    assert len(_traces(crawl, {case for case in CASES if case.expected(profile) == "kept"})) > 10  # the search finds


def test_the_page_of_the_documentation_is_the_table_as_it_was_measured():
    text = PAGE.read_text(encoding="utf-8")
    assert render(stock_column(text)) == text


def test_every_protocol_of_the_registry_has_a_case_and_all_but_the_recorded_ones_a_case_that_refuses():
    seen = {case.signal[0] for case in CASES if case.signal}
    refused = {case.signal[0] for case in CASES if case.signal and case.signal[3] == "disallow"}
    assert {detector.name for detector in DETECTORS} == seen | INSIDE_FILES
    assert seen - refused == RECORDED_ONLY


def _permissions(records: dict[str, dict[str, object]]) -> dict[str, list[object]]:
    names = ("optout_signals", "robots_status", "robots_sha256", "robots_fetched_at", "text")
    return {url: [record[name] for name in names] for url, record in records.items()}


def _page_requests(paths: list[str]) -> list[str]:
    return [path for path in paths if path == "/page"]


def _dated(record: dict[str, object], started: float) -> bool:
    """True where the record says when it was decided."""
    return started - 1 <= datetime.fromisoformat(str(record["crawled_at"])).timestamp() <= time.time()


def _shows(case: Case, record: dict[str, object]) -> bool:
    if case.signal is None:
        return True
    protocol, carrier, value, verdict = case.signal
    return any(
        (s["protocol"], s["carrier"], s["verdict"]) == (protocol, carrier, verdict) and value in s["value"]
        for s in record["optout_signals"]
    )


def _traces(crawl: CorpusCrawl, cases: set[Case]) -> list[str]:
    """The cases of which a word of the page stands anywhere on the disk or in the log."""
    return [case.what for case in cases if case.secret.encode() in crawl.everything]
