"""A page is its canonical URL: whichever crawl, archive or run brought a record of it, the page is the same one."""

from __future__ import annotations

import hashlib

from crawler.document import DropReason
from crawler.storage.files.records import Record
from crawler.urls.canonicalize import canonicalize

KEY_BYTES = 16


def page_name(record: Record) -> str:
    """The canonical URL of the record's page. Records of older replays have the archive's spelling in `url`."""
    return str(record.get("canonical_url") or record["url"])


def page_key(record: Record) -> bytes:
    """Stands for the page of a record; `KEY_BYTES` bytes."""
    return _digest(page_name(record))


def redirect_of(record: Record) -> str | None:
    """The canonical URL that a record of a redirect names as its end; None for any other record."""
    if record.get("reason") != DropReason.REDIRECTED:
        return None
    return canonicalize(str(record.get("detail") or ""))


def identity(record: Record) -> bytes:
    """Tells one record of a page from another: when it was fetched, by whom, where it lies, and what became of it."""
    what = record.get("reason") or record.get("doc_id")
    names = (record.get("crawl_id"), record.get("worker_id"), record["url"], record.get("crawled_at"), what)
    return _digest("\n".join(map(str, (*names, record.get("warc_file"), record.get("warc_offset")))))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=KEY_BYTES).digest()
