"""What every document has before anything is known of its page: address, crawl, version. No Scrapy here."""

from __future__ import annotations

from crawler.config import Config
from crawler.document import Document
from crawler.policy.headers import escaped
from crawler.urls.canonicalize import registrable_domain
from crawler.version import __version__
from crawler.wire.media import content_type


def begin(url: str, canonical_url: str | None, config: Config) -> Document:
    """A document of this run about a URL; without a canonical name it goes by its own."""
    return Document(
        url=url,
        canonical_url=canonical_url or url,
        domain=registrable_domain(url),
        crawl_id=config.crawl.crawl_id,
        worker_id=config.crawl.worker_id,
        pipeline_version=__version__,
        config_digest=config.digest,
    )


def declared_type(lines: list[tuple[bytes, bytes]]) -> str:
    """`content_type` of a record: what the headers say, without what would act in a terminal."""
    return escaped(content_type(lines))


def first_value(lines: list[tuple[bytes, bytes]], name: bytes) -> str:
    """The first value of a header (given in lower case) as text (latin-1, RFC 9110 section 5.5); empty where absent."""
    return next((value.decode("latin-1") for key, value in lines if key.lower() == name), "")
