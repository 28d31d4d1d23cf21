"""A Scrapy response becomes a `Document`: what was fetched, when, under which permission."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from crawler.document import Document, Exchange
from crawler.documents.begin import begin, declared_type, first_value
from crawler.middlewares._meta import header_lines
from crawler.policy.headers import values_of
from crawler.scheduler.in_flight import ANSWERED_AT, SENT_AT
from crawler.times import Clock, rfc3339
from crawler.urls.refresh import read_header
from crawler.urls.rel_canonical import from_headers
from crawler.wire.media import media_type

if TYPE_CHECKING:
    from scrapy.http import Request, Response

    from crawler.config import Config
    from crawler.frontier.model import Lease
    from crawler.seeds.scope import Scope


def blank_document(request: Request, lease: Lease, config: Config, scope: Scope, now: float | None = None) -> Document:
    """A document about a URL without a page: address, provenance and the evidence that policy left on the request."""
    fetched = time.time() if now is None else now
    url = request.url
    grant = scope.grant(url)
    doc = begin(url, grant.canonical, config)
    doc.crawled_at = rfc3339(fetched)
    doc.license_tag, doc.license_tier = grant.licence, grant.tier
    doc.license_reviewer, doc.license_reviewed = grant.reviewer, grant.reviewed
    doc.depth, doc.profile = lease.link.depth, grant.profile
    doc.fields, doc.choices = scope.fields_of(lease.url), dict(grant.choices)
    doc.lease_token, doc.redirects = lease.token, list(lease.link.redirects)
    evidence = request.meta.get("evidence")
    if evidence is not None:
        doc.robots_status = evidence.robots_status
        doc.robots_sha256 = evidence.robots_sha256
        doc.robots_fetched_at = evidence.robots_fetched_at
        doc.control_files = list(evidence.files)
        doc.optout_signals = list(evidence.signals)
    return doc


def document_of(
    response: Response, lease: Lease, config: Config, scope: Scope, *, clock: Clock = time.time
) -> Document:
    """A document with the page's bytes and the raw exchange behind it. clock: that all workers of the crawl go by."""
    request = response.request
    assert request is not None, "Scrapy sets response.request before the callback"
    fetched = request.meta.get("fetched_at") or clock()
    doc = blank_document(request, lease, config, scope, fetched)
    doc.http_status = response.status
    response_headers = header_lines(response.headers)
    doc.content_type = declared_type(response_headers)
    doc.charset = media_type(doc.content_type).charset
    doc.etag = first_value(response_headers, b"etag") or None
    doc.last_modified = first_value(response_headers, b"last-modified") or None
    doc.canonical_link = from_headers(values_of(response_headers, b"link"), response.url, doc.domain)
    doc.refresh = read_header(response_headers, response.url)
    doc.html = response.body
    doc.body_bytes = len(response.body)
    doc.exchange = Exchange(
        method=request.method,
        url=request.url,
        status=response.status,
        request_headers=header_lines(request.headers),
        response_headers=response_headers,
        body=response.body,
        protocol=response.protocol or "HTTP/1.1",
        ip_address=str(response.ip_address) if response.ip_address else None,
        fetched_at=fetched,
        evidence=request.meta["evidence"].dump(doc.profile, doc.fields, doc.choices)
        if "evidence" in request.meta
        else b"",
        fetch=fetch_facts(request, lease, config.crawl.worker_id, fetched, clock),
        license_tag=doc.license_tag,
        license_tier=doc.license_tier,
        license_reviewer=doc.license_reviewer,
        license_reviewed=doc.license_reviewed,
        truncated="disconnect" if "dataloss" in response.flags else "",
    )
    return doc


def fetch_facts(request: Request, lease: Lease, worker_id: str, first_byte: float, clock: Clock) -> dict[str, Any]:
    """How the page was fetched, for the archive: lease, attempt, worker, and the times that are known (RFC 3339).

    `found_by` is "link" or "list" (a sitemap or feed); `found_on` then has `id`, the letters of that page's URL
    (`source_id`), and of a page its `shape` (`shape_id`); both are absent for a seed.
    first_byte: seconds since the epoch at which the head of the answer had arrived. `via` and `fetchTimeMs` are named
    as WARC 1.1 names them (section 6.6).
    """
    shift = clock() - time.monotonic()
    sent, answered = (request.meta.get(name) for name in (SENT_AT, ANSWERED_AT))
    facts: dict[str, Any] = {"lease": lease.token, "attempt": lease.attempt, "worker": worker_id}
    facts |= {"depth": lease.link.depth} | _found(lease)
    facts |= {"via": lease.link.redirects[-1]} if lease.link.redirects else {}
    facts |= {"leased_at": rfc3339(lease.granted_at)} if lease.granted_at else {}
    facts |= {"sent_at": rfc3339(sent + shift)} if sent is not None else {}
    facts["first_byte_at"] = rfc3339(first_byte)
    facts |= {"answered_at": rfc3339(answered + shift)} if answered is not None else {}
    if sent is not None and answered is not None:
        facts["fetchTimeMs"] = round(1000 * (answered - sent))
    return facts


def _found(lease: Lease) -> dict[str, Any]:
    if not lease.link.source:
        return {}
    if lease.link.mark is None:
        return {"found_by": "list", "found_on": {"id": lease.link.source}}
    return {"found_by": "link", "found_on": {"id": lease.link.source, "shape": lease.link.parent}}
