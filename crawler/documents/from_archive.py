"""An archived page becomes a `Document`, for the replay spider and the batch job.

No Scrapy, no Redis, no Spark here: archives give the same documents whoever reads them.
"""

from __future__ import annotations

import ada_url

from crawler.config import Config
from crawler.document import Capture, Document, Drop, DropReason, Rendering, Signal
from crawler.documents.begin import begin, declared_type, first_value
from crawler.policy.decide import decide_files, decide_headers, decide_unread
from crawler.policy.evidence import (
    load,
    load_browser,
    load_choices,
    load_fields,
    load_history,
    load_profile,
    load_verdict,
)
from crawler.policy.headers import values_of
from crawler.policy.signals.ai_bots import judged_under
from crawler.policy.status import verdict_on_status
from crawler.recrawl.decay import PAST_BYTES, DecayLimits, Past, tombstone
from crawler.storage.archive.reader import ArchivedResponse, ReadProblem
from crawler.times import rfc3339
from crawler.urls.canonicalize import canonicalize, is_route, printable, registrable_domain
from crawler.urls.refresh import read_header
from crawler.urls.rel_canonical import from_headers
from crawler.urls.tracking import extended_policy
from crawler.version import __version__
from crawler.wire.files import file_kind
from crawler.wire.media import media_type

UNKNOWN = "unknown"
"""`robots_status` of a page whose archive does not say what robots.txt and the opt-out files said."""
WET = "wet"
"""`extractor` of a page that its archive holds as text alone."""
_ILLEGIBLE = Drop("archive", DropReason.BROKEN_RECORD, "a tombstone that says nothing")
_PLAIN_TEXT = "text/plain; charset=utf-8"  # what a WET record holds, whatever its page was


def document_from_archive(response: ArchivedResponse, config: Config) -> Document:
    """A document with the page's bytes, its place in the archive, and the verdict on what was known before its body.

    That is: the signals of robots.txt and opt-out files that the crawl noted beside the page, the response headers, the
    status, and whether the body is whole. The page is judged as of the moment it was fetched. Where one of them says
    no, `verdict` is set and the stages leave the document alone. A record whose address nobody could crawl is broken.
    The page is its canonical name, however the archive spells it; `url` keeps that spelling, as a browser sends it.
    """
    if (name := name_of(response.url, config)) is None:
        return document_of_problem(_without_address(response), config)
    doc = begin(_as_sent(response.url), name, config)
    doc.crawled_at = doc.first_seen = doc.last_changed = rfc3339(response.fetched_at)
    doc.http_status = response.status
    doc.content_type = _PLAIN_TEXT if response.kind == "conversion" else declared_type(response.headers)
    doc.extractor = WET if response.kind == "conversion" else ""
    doc.charset = media_type(doc.content_type).charset
    doc.canonical_link = from_headers(values_of(response.headers, b"link"), response.url, doc.domain)
    doc.refresh = read_header(response.headers, response.url)
    doc.etag = first_value(response.headers, b"etag") or None
    doc.last_modified = first_value(response.headers, b"last-modified") or None
    doc.license_tag, doc.license_tier = response.license_tag, response.license_tier
    doc.license_reviewer, doc.license_reviewed = response.license_reviewer, response.license_reviewed
    doc.profile, doc.fields = load_profile(response.evidence), load_fields(response.evidence)
    doc.choices = load_choices(response.evidence)
    doc.html = response.body
    doc.body_bytes = len(response.body)
    if (facts := load_browser(response.evidence)) is not None:
        doc.rendering = Rendering(response.drawn, facts, [_capture(one, config) for one in response.captures])
    doc.warc_file, doc.warc_record_id, doc.warc_offset = response.file, response.record_id, response.offset
    _tell_history(doc, response)
    _judge(doc, response, config)
    return doc


def compare_with_past(doc: Document, config: Config) -> Document:
    """After the stages: is the page still what the crawl once kept, as far as our archive says what that was?"""
    past = Past.unpack(doc.past) if len(doc.past) == PAST_BYTES else None
    limits = DecayLimits(config.frontier.recrawl_decay_yield, config.frontier.recrawl_decay_quality)
    doc.verdict = tombstone(doc, past, limits) or doc.verdict
    return doc


def document_of_problem(problem: ReadProblem, config: Config) -> Document:
    """A document that says what cannot be read, under its place in the archive where its URL is unknown."""
    name = name_of(problem.url, config)
    place = f"{problem.file}#{problem.offset}"
    doc = begin(_as_sent(problem.url), name, config) if name else Document(url=place, canonical_url=place)
    doc.crawl_id, doc.worker_id = config.crawl.crawl_id, config.crawl.worker_id
    doc.pipeline_version, doc.config_digest = __version__, config.digest
    doc.warc_file, doc.warc_record_id, doc.warc_offset = problem.file, problem.record_id or None, problem.offset
    reason = DropReason.TOO_LARGE if problem.is_size else DropReason.BROKEN_RECORD
    doc.verdict = Drop("archive", reason, f"byte {problem.offset}: {problem.what}"[:512])
    return doc


def recorded_name(found: ArchivedResponse | ReadProblem, config: Config) -> str:
    """`canonical_url` of the record that comes of it: the name of its page, or its place where it has no address."""
    return name_of(found.url, config) or f"{found.file}#{found.offset}"


def name_of(url: str, config: Config) -> str | None:
    """What a crawl with this configuration calls the page at a URL; None where nobody could crawl it."""
    if not url:
        return None
    policy = extended_policy(config.frontier.tracking_params)
    return canonicalize(url, policy=policy, routes=True) or _too_long(url)


def _as_sent(url: str) -> str:
    """An address as a browser asks for it: one spelling of scheme, host and port, no fragment but a route."""
    before, mark, fragment = str(ada_url.normalize_url(url)).partition("#")
    return f"{before}{mark}{fragment}" if is_route(fragment) else before


def _too_long(url: str) -> str | None:
    """A URL that is an address, and no canonical one, because it is too long: it goes by itself."""
    try:
        registrable_domain(url)
    except ValueError:
        return None
    return url


def _without_address(response: ArchivedResponse) -> ReadProblem:
    what = f"broken record: no address that could be crawled: {printable(response.url)}"
    return ReadProblem(response.file, response.offset, what, record_id=response.record_id)


def _tell_history(doc: Document, response: ArchivedResponse) -> None:
    if history := load_history(response.evidence):
        doc.redirects, doc.change_count = history.redirects, history.change_count
        doc.first_seen = history.first_seen or doc.first_seen
        doc.last_changed = history.last_changed or doc.last_changed
        doc.former_text = doc.past_text = history.past_text
        doc.past = history.past


def _judge(doc: Document, response: ArchivedResponse, config: Config) -> None:
    """Signals are collected whatever the verdict; of several verdicts the earliest on a page's way stands."""
    profile = config.policy.optout_profile
    doc.robots_status = UNKNOWN
    if evidence := load(response.evidence):
        doc.robots_status, doc.robots_sha256 = evidence.robots_status, evidence.robots_sha256
        doc.robots_fetched_at = evidence.robots_fetched_at
        doc.control_files = evidence.files
        doc.optout_signals = judged_under(profile, evidence.signals)
        doc.verdict = decide_files(doc.optout_signals, profile).drop
    if response.kind == "tombstone":
        doc.verdict, doc.http_status = load_verdict(response.evidence) or (_ILLEGIBLE, 0)
        return
    headers = decide_headers(response.headers, config.crawl.product_token, profile, response.fetched_at)
    doc.optout_signals += headers.signals
    if response.kind == "revisit":  # a page that did not change may still have changed its mind
        doc.verdict = doc.verdict or headers.drop or decide_unread(doc.optout_signals, profile, response.url)
    doc.verdict = doc.verdict or _on_fetch(response) or _too_large(response, config) or headers.drop
    for capture in response.captures:  # drawn with data that may not be kept
        doc.verdict = doc.verdict or _refusal_of(capture, config)


def _too_large(response: ArchivedResponse, config: Config) -> Drop | None:
    """A page may be as large as DOWNLOAD_MAXSIZE says, a document as DOCUMENT_MAXSIZE says."""
    limit, size = config.policy.max_body_bytes, len(response.body)
    if size <= min(limit, config.documents.max_bytes):
        return None
    name = "DOWNLOAD_MAXSIZE"
    if file_kind(declared_type(response.headers), response.body) is not None:
        name, limit = "DOCUMENT_MAXSIZE", config.documents.max_bytes
    return Drop("fetch", DropReason.TOO_LARGE, f"{size:,} bytes; {name}={limit}") if size > limit else None


def _capture(response: ArchivedResponse, config: Config) -> Capture:
    policy = config.policy
    headers = decide_headers(response.headers, config.crawl.product_token, policy.optout_profile, response.fetched_at)
    early = _early_signals(response, policy.optout_profile)
    return Capture(response.url, response.body, [*early, *headers.signals])


def _refusal_of(response: ArchivedResponse, config: Config) -> Drop | None:
    profile = config.policy.optout_profile
    headers = decide_headers(response.headers, config.crawl.product_token, profile, response.fetched_at)
    return decide_files(_early_signals(response, profile), profile).drop or headers.drop


def _early_signals(response: ArchivedResponse, profile: str) -> list[Signal]:
    evidence = load(response.evidence)
    return judged_under(profile, evidence.signals) if evidence else []


def _on_fetch(response: ArchivedResponse) -> Drop | None:
    """What became of the fetch itself, as a live crawl would say it: half a page is no page."""
    if response.kind == "revisit":
        return Drop("fetch", DropReason.UNCHANGED, f"revisit of {response.refers_to or 'an unnamed record'}"[:512])
    if verdict := verdict_on_status(response.status):
        return verdict
    if response.truncated:
        reason = DropReason.TOO_LARGE if response.truncated == "length" else DropReason.DOWNLOAD_FAILED
        return Drop("fetch", reason, f"WARC-Truncated: {response.truncated}"[:512])
    if response.torn:
        return Drop("fetch", DropReason.DOWNLOAD_FAILED, response.torn[:512])
    return None
