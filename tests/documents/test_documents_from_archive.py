"""From an archived page to a document: what the crawl knew is known again, what nobody noted is said to be unknown."""

import pytest
from scrapy.http import Headers

from crawler.config import from_mapping
from crawler.document import Drop, DropReason
from crawler.documents.begin import first_value
from crawler.documents.from_archive import document_from_archive, document_of_problem, recorded_name
from crawler.middlewares._meta import header_lines
from crawler.policy.evidence import Evidence, History, load, load_history, with_history
from crawler.policy.robots.parse import parse
from crawler.policy.signals import ai_bots
from crawler.policy.signals.base import Context
from crawler.storage.archive.reader import ArchivedResponse, ReadProblem

CONFIG = from_mapping({"CORPUS_DIR": "x", "WORKER_ID": "w"})
NOON = 1_767_268_800.0


def response(**values):
    made = {
        "url": "http://a.test/?b=2&a=1",
        "kind": "response",
        "status": 200,
        "headers": [(b"Content-Type", b"text/html; charset=utf-8"), (b"ETag", b'"1"')],
        "body": b"<p>text</p>",
        "fetched_at": NOON,
        "file": "x.warc.gz",
        "record_id": "<urn:uuid:1>",
        "offset": 7,
    }
    return ArchivedResponse(**(made | values))


def test_history_and_evidence_lie_in_one_record_and_are_read_apart():
    noted = Evidence("allowed", "ab", "2026-01-01T00:00:00Z", "line 1: Allow: /")
    history = History(["http://a.test/old"], "2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z", 3)
    blob = with_history(noted.dump(), history)
    assert load(blob) == noted and load_history(blob) == history
    assert load_history(noted.dump()) is None and load(with_history(b"", history)) is None
    assert load_history(with_history(b"no json", history)) == history


@pytest.mark.parametrize(
    "blob", [b"", b"[]", b'{"history":1}', b'{"history":[["u"],1,"",0]}', b'{"history":[[1],"","",0]}']
)
def test_a_history_that_is_something_else_is_none(blob):
    assert load_history(blob) is None


def test_a_replay_restores_what_the_crawl_knew_of_a_page():
    history = History(["http://a.test/old"], "2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z", 3)
    blob = with_history(Evidence("allowed", "ab", "2026-01-01T00:00:00Z").dump(), history)
    doc = document_from_archive(response(evidence=blob, license_tag="CC-BY-4.0", license_tier="A"), CONFIG)
    assert (doc.redirects, doc.first_seen, doc.last_changed, doc.change_count) == (
        ["http://a.test/old"],
        "2025-01-01T00:00:00Z",
        "2025-06-01T00:00:00Z",
        3,
    )
    assert (doc.robots_status, doc.robots_sha256, doc.license_tag, doc.license_tier) == (
        "allowed",
        "ab",
        "CC-BY-4.0",
        "A",
    )
    assert (doc.crawled_at, doc.etag, doc.warc_offset) == ("2026-01-01T12:00:00.000Z", '"1"', 7)


def test_a_header_that_came_twice_is_read_as_on_a_live_page():
    twice = [(b"ETag", b'"1"'), (b"Content-Type", b"text/html; charset=cp1252"), (b"etag", b'"2"')]
    doc = document_from_archive(response(headers=[*twice, (b"content-type", b"text/plain; charset=utf-8")]), CONFIG)
    live = Headers(twice)
    assert (doc.etag, doc.charset) == ('"1"', "utf-8")  # of types the last (Fetch standard), else the first
    assert first_value(header_lines(live), b"etag") == doc.etag
    assert doc.content_type == "text/html; charset=cp1252, text/plain; charset=utf-8"


def test_an_archive_without_evidence_leaves_robots_unknown_and_the_page_seen_once():
    doc = document_from_archive(response(), CONFIG)
    assert (doc.robots_status, doc.verdict) == ("unknown", None)
    assert doc.first_seen == doc.last_changed == doc.crawled_at


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"status": 404}, "gone"),
        ({"status": 451}, "access_denied"),
        ({"status": 302}, "redirected"),
        ({"status": 500}, "http_error"),
        ({"status": 206}, "http_error"),
        ({"kind": "revisit", "status": 200}, "unchanged"),
        ({"truncated": "length"}, "too_large"),
        ({"truncated": "time"}, "download_failed"),
        ({"headers": [(b"X-Robots-Tag", b"noai")]}, "optout"),
        ({"headers": [(b"X-Robots-Tag", b"unavailable_after: 2025-12-31")]}, "gone"),
        ({"status": 203}, None),
    ],
)
def test_status_headers_and_truncation_are_judged_as_in_a_crawl(values, reason):
    verdict = document_from_archive(response(**values), CONFIG).verdict
    assert (verdict.reason if verdict else None) == reason


@pytest.mark.parametrize(("profile", "refused"), [("strict", True), ("balanced", False), ("minimal", False)])
def test_a_refusal_of_training_bots_that_the_crawl_only_recorded_counts_under_the_profile_of_the_replay(
    profile, refused
):
    robots = parse(b"User-agent: GPTBot\nDisallow: /\n\nUser-agent: CCBot\nAllow: /\n\nUser-agent: ClaudeBot\nAllow: /")
    seen = Evidence("allowed", signals=ai_bots.from_robots(robots, "/", Context("CorpusBot", "minimal", NOON)))
    assert [s.verdict for s in seen.signals] == ["allow", "allow", "unknown"]
    config = from_mapping({"CORPUS_DIR": "x", "WORKER_ID": "w", "OPTOUT_PROFILE": profile})
    doc = document_from_archive(response(evidence=seen.dump()), config)
    assert [s.verdict for s in doc.optout_signals] == ["allow", "allow", "disallow" if refused else "unknown"]
    assert (doc.verdict.detail if doc.verdict else None) == (
        "ai-bots in robots.txt: GPTBot: line 2: Disallow: /" if refused else None
    )


def test_what_cannot_be_read_is_recorded_under_its_address_or_its_place():
    nameless = document_of_problem(ReadProblem("x.warc.gz", 9, "the record is torn"), CONFIG)
    named = document_of_problem(ReadProblem("x.warc.gz", 9, "no status", "http://a.test/", "<1>"), CONFIG)
    large = document_of_problem(
        ReadProblem("x.warc.gz", 9, "11 bytes are beyond the limit of 10", "http://a.test/"), CONFIG
    )
    assert (nameless.url, nameless.verdict.reason, nameless.warc_offset) == ("x.warc.gz#9", "broken_record", 9)
    assert nameless.verdict.detail == "byte 9: the record is torn"
    assert (named.url, named.domain, named.warc_record_id) == ("http://a.test/", "a.test", "<1>")
    assert (large.verdict.stage, large.verdict.reason) == ("archive", "too_large")


def revisit(headers, **values):
    return response(kind="revisit", status=304, body=b"", headers=headers, refers_to="http://a.test/", **values)


@pytest.mark.parametrize("header", [(b"X-Robots-Tag", b"noai"), (b"tdm-reservation", b"1")])
def test_a_page_that_did_not_change_may_have_changed_its_mind(header):
    doc = document_from_archive(revisit([header]), CONFIG)
    assert doc.verdict is not None and doc.verdict.reason is DropReason.OPTOUT


def test_a_page_that_did_not_change_and_says_nothing_is_unchanged():
    doc = document_from_archive(revisit([(b"ETag", b'"1"')]), CONFIG)
    assert doc.verdict == Drop("fetch", DropReason.UNCHANGED, "revisit of http://a.test/")


def test_half_a_page_is_no_page():
    doc = document_from_archive(response(torn="11 of the 20 bytes that Content-Length promises"), CONFIG)
    expected = Drop("fetch", DropReason.DOWNLOAD_FAILED, "11 of the 20 bytes that Content-Length promises")
    assert doc.verdict == expected


@pytest.mark.parametrize("url", ["http://jane:secret@a.test/", "http://a.test:0/", "http://a b.test/", "http:///"])
def test_a_record_whose_address_nobody_could_crawl_is_broken_and_goes_by_its_place(url):
    found = response(url=url)
    doc = document_from_archive(found, CONFIG)
    assert doc.verdict is not None and doc.verdict.reason is DropReason.BROKEN_RECORD
    assert doc.url == doc.canonical_url == recorded_name(found, CONFIG) == "x.warc.gz#7"
    assert (doc.html, doc.warc_record_id, doc.warc_offset) == (b"", "<urn:uuid:1>", 7)
    assert "secret" not in doc.verdict.detail
    problem = ReadProblem("x.warc.gz", 7, "torn", url, "<urn:uuid:1>")
    assert document_of_problem(problem, CONFIG).url == recorded_name(problem, CONFIG) == "x.warc.gz#7"
