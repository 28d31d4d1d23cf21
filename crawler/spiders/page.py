"""From a Scrapy response to a `Document`: what was fetched, when, under which permission."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawler import __version__
from crawler.document import Document, Exchange
from crawler.frontier.flights import ANSWERED_AT, SENT_AT
from crawler.frontier.urls import registrable_domain
from crawler.middlewares._meta import header_lines
from crawler.policy.canonical import from_headers

if TYPE_CHECKING:
    from scrapy.http import Headers, Request, Response

    from crawler.config import Config
    from crawler.frontier.model import Lease
    from crawler.frontier.scope import Scope


def blank_document(request: Request, lease: Lease, config: Config, scope: Scope, now: float | None = None) -> Document:
    """A document about a URL without a page: address, provenance and the evidence that policy left on the request."""
    fetched = time.time() if now is None else now
    url = request.url
    tag, tier = scope.licence_of(url)
    doc = Document(
        url=url,
        canonical_url=scope.canonical(url) or url,
        domain=registrable_domain(url),
        crawled_at=rfc3339(fetched),
        license_tag=tag,
        license_tier=tier,
        crawl_id=config.crawl.crawl_id,
        worker_id=config.crawl.worker_id,
        pipeline_version=__version__,
        config_digest=config.digest,
        depth=lease.depth,
        profile=scope.profile_of(url),
        lease_token=lease.token,
        redirects=list(lease.redirects),
    )
    evidence = request.meta.get("evidence")
    if evidence is not None:
        doc.robots_status = evidence.robots_status
        doc.robots_sha256 = evidence.robots_sha256
        doc.robots_fetched_at = evidence.robots_fetched_at
        doc.optout_signals = list(evidence.signals)
    return doc


def document_of(response: Response, lease: Lease, config: Config, scope: Scope) -> Document:
    """A document with the page's bytes and the raw exchange behind it."""
    request = response.request
    assert request is not None, "Scrapy sets response.request before the callback"
    fetched = request.meta.get("fetched_at") or time.time()
    doc = blank_document(request, lease, config, scope, fetched)
    doc.http_status = response.status
    doc.content_type = header(response.headers, b"Content-Type")
    doc.charset = charset_of(doc.content_type)
    doc.etag = header(response.headers, b"ETag") or None
    doc.last_modified = header(response.headers, b"Last-Modified") or None
    response_headers = header_lines(response.headers)
    doc.canonical_link = from_headers(response_headers, response.url, doc.domain)
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
        elapsed=float(request.meta.get("download_latency") or 0.0),
        evidence=request.meta["evidence"].dump(doc.profile) if "evidence" in request.meta else b"",
        fetch=fetch_facts(request, lease, config.crawl.worker_id, fetched),
        license_tag=doc.license_tag,
        license_tier=doc.license_tier,
        truncated="disconnect" if "dataloss" in response.flags else "",
    )
    return doc


def fetch_facts(request: Request, lease: Lease, worker_id: str, first_byte: float) -> dict[str, Any]:
    """How the page was fetched, for the archive: lease, attempt, worker, and the times that are known (RFC 3339).

    first_byte: seconds since the epoch at which the head of the answer had arrived. `via` and `fetchTimeMs` are named
    as WARC 1.1 names them (section 6.6).
    """
    shift = time.time() - time.monotonic()
    sent, answered = (request.meta.get(name) for name in (SENT_AT, ANSWERED_AT))
    facts: dict[str, Any] = {"lease": lease.token, "attempt": lease.attempt, "worker": worker_id, "depth": lease.depth}
    facts |= {"via": lease.redirects[-1]} if lease.redirects else {}
    facts |= {"leased_at": rfc3339(lease.granted_at)} if lease.granted_at else {}
    facts |= {"sent_at": rfc3339(sent + shift)} if sent is not None else {}
    facts["first_byte_at"] = rfc3339(first_byte)
    facts |= {"answered_at": rfc3339(answered + shift)} if answered is not None else {}
    if sent is not None and answered is not None:
        facts["fetchTimeMs"] = round(1000 * (answered - sent))
    return facts


def header(headers: Headers, name: bytes) -> str:
    """The first value of a header as text (latin-1, RFC 9110 section 5.5); empty where it is absent."""
    values = headers.getlist(name)  # `get` would answer the last one
    return values[0].decode("latin-1") if values and values[0] else ""


def rfc3339(seconds: float) -> str:
    """Seconds since the epoch as RFC 3339 in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def charset_of(content_type: str) -> str | None:
    """The charset parameter of a Content-Type value; None where it has none."""
    for part in content_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'") or None
    return None
