"""What writer and reader of archives share: what marks the records that are ours alone."""

from __future__ import annotations

EVIDENCE_TYPE = "application/json;profile=crawl-policy-evidence"
"""Content-Type of our metadata records: what policy had read before the request (`crawler.policy.evidence`)."""
TOMBSTONE_TYPE = "application/json;profile=crawl-tombstone"
"""Content-Type of our metadata records about a visit that found a page gone: there is no response to judge again."""
DRAWN = "X-Crawl-Drawn"
"""Field of our resource records that hold a page as a browser has drawn it; its value is "dom"; of our
response records with JSON that such a page has fetched, its value is "capture"."""
