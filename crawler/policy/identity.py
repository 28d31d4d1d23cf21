"""On every request: who is asking. One product token, one version, one contact; no rotation, no disguise."""

from __future__ import annotations


def user_agent(product_token: str, version: str, contact: str) -> str:
    """The User-Agent header (RFC 9110 section 10.1.5), such as `CorpusBot/0.1 (+https://example.org/bot)`."""
    where = f" (+{contact})" if contact else ""
    return f"{product_token}/{version}{where}"
