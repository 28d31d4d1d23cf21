"""From an archived page to a `Document`, before any stage: what the replay spider and the batch job both begin with.

No Scrapy, no Redis, no Spark here: archives give the same documents whoever reads them.
"""

from __future__ import annotations

from crawler import __version__
from crawler.config import Config
from crawler.document import Document
from crawler.frontier.tracking import extended_policy
from crawler.frontier.urls import canonicalize, registrable_domain
from crawler.policy.decide import decide_files, decide_headers
from crawler.policy.evidence import load, load_profile
from crawler.spiders.page import charset_of, rfc3339
from crawler.storage.replay import ArchivedResponse

_PLAIN_TEXT = "text/plain; charset=utf-8"  # what a WET record holds, whatever its page was


def document_from_archive(response: ArchivedResponse, config: Config) -> Document:
    """A document with the page's bytes, its place in the archive, and the verdict on what was known before its body.

    That is: the signals of robots.txt and opt-out files that the crawl noted beside the page, and the response headers.
    The page is judged as of the moment it was fetched. Where one of them says no, `verdict` is set and the stages leave
    the document alone.
    """
    policy = extended_policy(config.frontier.tracking_params)
    doc = Document(
        url=response.url,
        canonical_url=canonicalize(response.url, policy=policy) or response.url,
        domain=registrable_domain(response.url),
        crawled_at=rfc3339(response.fetched_at),
        http_status=response.status,
        content_type=_PLAIN_TEXT if response.kind == "conversion" else _header(response, b"content-type"),
        etag=_header(response, b"etag") or None,
        last_modified=_header(response, b"last-modified") or None,
        html=response.body,
        warc_file=response.file,
        warc_record_id=response.record_id,
        warc_offset=response.offset,
        crawl_id=config.crawl.crawl_id,
        worker_id=config.crawl.worker_id,
        pipeline_version=__version__,
        config_digest=config.digest,
    )
    doc.charset = charset_of(doc.content_type)
    doc.profile = load_profile(response.evidence)
    verdict = decide_headers(
        response.headers, config.crawl.product_token, config.policy.optout_profile, response.fetched_at
    )
    if evidence := load(response.evidence):
        doc.robots_status, doc.robots_sha256 = evidence.robots_status, evidence.robots_sha256
        doc.robots_fetched_at = evidence.robots_fetched_at
        doc.optout_signals = list(evidence.signals)
        doc.verdict = decide_files(evidence.signals, config.policy.optout_profile).drop
    doc.optout_signals += verdict.signals
    doc.verdict = doc.verdict or verdict.drop
    return doc


def _header(response: ArchivedResponse, name: bytes) -> str:
    """The value of a header (given in lower case) as text; empty where it is absent.

    The last line of that name counts, as it does where Scrapy reads the headers of a live page.
    """
    values = [value for key, value in response.headers if key.lower() == name]
    return values[-1].decode("latin-1") if values else ""
