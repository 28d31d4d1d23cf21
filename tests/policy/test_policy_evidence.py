"""What is said about a refusal: evidence for the archive, and statistics keys."""

from __future__ import annotations

import pytest

from crawler.document import Drop, DropReason, Reason, Signal
from crawler.policy.counts import MAX_DOMAINS, PolicyCounts
from crawler.policy.decide import decide_headers
from crawler.policy.evidence import Evidence, load


def test_evidence_comes_back_from_the_archive_without_what_the_response_itself_says():
    early = Signal("rsl", "robots.txt", "http://a.example/l.xml", "allow")
    signals = [early, Signal("x-robots-tag", "header", "noindex", "unknown"), Signal("tdmrep", "meta", "1", "disallow")]
    evidence = Evidence("allowed", "ab" * 32, "2026-01-01T00:00:00+00:00", "line 2: Allow: /", signals)
    back = load(evidence.dump())
    assert back is not None
    assert back.signals == [early]
    assert (back.robots_status, back.robots_sha256, back.robots_rule) == ("allowed", "ab" * 32, "line 2: Allow: /")


EMPTY = Evidence().dump()


@pytest.mark.parametrize(
    "blob",
    [
        *(b"", b"{}", b"[]", b"null", b"[" * 100_000, b"\xff"),
        *(EMPTY.replace(b"[]", signals) for signals in (b"[[1,2,3,4]]", b'[["a"]]', b"7")),
    ],
)
def test_other_bytes_are_no_evidence(blob):
    assert load(blob) is None


def keys(reason: Reason, stage: str = "fetch", domain: str = "a.example") -> list[str]:
    return list(PolicyCounts().keys(Drop(stage, reason, "HTTP 403"), domain))


def test_every_refusal_is_counted_under_its_protocol():
    verdict = decide_headers([(b"Content-Usage", b"train-ai=n")], "CorpusBot", "strict", 0.0)
    assert list(PolicyCounts().keys(verdict.drop, "a.example")) == ["policy/denied/content-usage"]
    past = decide_headers([(b"X-Robots-Tag", b"unavailable_after: 2001-01-01")], "CorpusBot", "strict", 1e9)
    assert list(PolicyCounts().keys(past.drop, "a.example")) == ["policy/denied/unavailable-after"]
    assert keys(DropReason.ROBOTS_DISALLOWED) == ["policy/denied/robots"]
    assert keys(DropReason.NETWORK_FORBIDDEN) == ["policy/denied/network"]
    assert keys(DropReason.HOLD_CONTROL_FILE) == ["policy/held/hold_control_file"]
    assert keys(DropReason.TOO_SHORT) == []
    assert keys(DropReason.GONE) == []


def test_a_block_is_counted_for_its_domain_up_to_a_bound():
    assert keys(DropReason.ACCESS_DENIED) == ["policy/denied/http", "policy/blocked", "policy/blocked/a.example"]
    assert keys(DropReason.HOLD_RATE_LIMITED)[1:] == ["policy/blocked", "policy/blocked/a.example"]
    counts, drop = PolicyCounts(), Drop("fetch", DropReason.ACCESS_DENIED)
    found = {key for n in range(2 * MAX_DOMAINS) for key in counts.keys(drop, f"{n}.example")}
    assert len(found) == MAX_DOMAINS + 2
    assert "policy/blocked/1.example" in list(counts.keys(drop, "1.example"))
