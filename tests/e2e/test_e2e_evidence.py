"""After the crawl of the demo web: every record can answer for itself, kept or not."""

from __future__ import annotations

import json
import re

import pytest

from crawler.document import Reason
from crawler.policy.signals.registry import versions
from demo.outputs import Record

SEEN = {"allowed", "no_rules", "stale"}


@pytest.fixture
def kept(demo_crawl) -> list[Record]:
    return demo_crawl.corpus().kept


@pytest.fixture
def rejected(demo_crawl) -> list[Record]:
    return demo_crawl.corpus().rejected


def test_every_kept_record_says_which_robots_txt_let_it_in_and_when_it_was_read(kept):
    assert kept
    for record in kept:
        assert record["robots_status"] in SEEN, record["url"]
        assert re.fullmatch(r"[0-9a-f]{64}", record["robots_sha256"] or "") or record["robots_status"] == "no_rules"
        assert "0000" < record["robots_fetched_at"] <= record["crawled_at"]


def test_every_kept_record_was_checked_for_opt_outs_and_lists_what_was_seen(kept):
    assert all(record["noai_checked"] is True for record in kept)
    signals = [signal for record in kept for signal in record["optout_signals"]]
    assert signals and all(set(signal) == {"protocol", "carrier", "value", "verdict"} for signal in signals)
    assert all(len(signal["value"].encode()) <= 512 and signal["value"].isprintable() for signal in signals)
    assert not [signal for signal in signals if signal["verdict"] == "disallow"]


def test_every_kept_record_names_its_bytes_its_code_and_its_configuration(kept):
    for record in kept:
        assert record["warc_file"] and record["warc_record_id"].startswith("<urn:uuid:") and record["warc_offset"] >= 0
        assert record["content_hash"].startswith("sha256:") and record["config_digest"].startswith("sha256:")
        assert record["pipeline_version"] and record["worker_id"]


def test_every_rejected_record_says_where_and_why(rejected):
    assert rejected
    for record in rejected:
        assert record["stage"] and record["reason"] in Reason.known(), record["url"]
        assert record["detail"] and len(record["detail"].encode()) <= 2_048 and record["detail"].isprintable()
        assert record["crawled_at"] or record["reason"].startswith("hold_"), record["url"]


def test_an_opt_out_shows_the_statement_that_decided_with_its_raw_value(rejected):
    refused = [record for record in rejected if record["reason"] == "optout"]
    assert refused
    for record in refused:
        statements = [f"{s['protocol']} in {s['carrier']}: {s['value']}" for s in record["optout_signals"]]
        assert record["detail"] in statements, record["url"]
        assert "text" not in record and "title" not in record and record["warc_file"] is None


def test_a_page_that_robots_txt_forbids_shows_group_line_and_rule(rejected):
    forbidden = [record for record in rejected if record["reason"] == "robots_disallowed"]
    assert forbidden
    for record in forbidden:
        assert re.fullmatch(r"group \S+, line \d+: Disallow: \S+", record["detail"]), record["detail"]
        assert record["robots_status"] == "disallowed" and record["robots_sha256"]
        assert record["method_used"] is None, "nothing was fetched"


def test_the_manifest_says_under_which_profile_and_detectors_each_run_asked(demo_crawl):
    manifest = json.loads((demo_crawl.corpus_dir / "manifest.json").read_bytes())
    policies = [run["policy"] for run in manifest["runs"]]
    assert len(policies) == 2
    assert all(policy["optout_profile"] == "strict" and policy["detectors"] == versions() for policy in policies)
    assert all(policy["user_agent"].startswith("CorpusBot/") for policy in policies)
