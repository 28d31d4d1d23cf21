"""Headers and head say which page this one names as its original (`rel=canonical`, RFC 6596). A claim, not an identity.

Claims count within one registrable domain only: nobody names a page of somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from crawler.urls.resolve import resolve

MAX_LENGTH = 2083
"""Characters; longer URLs are not crawled either."""

_LINK = re.compile(r"<([^<>]*)>([^<>]*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;,]+))", re.IGNORECASE)


def from_links(links: Iterable[tuple[str, str, str]], domain: str) -> str | None:
    """The one URL that `<link rel=canonical>` of the head names; None where there is none or more than one.

    `links` are (rel, type, absolute href), `domain` is the page's own as the record has it.
    """
    return _only((href for rel, _, href in links if "canonical" in rel.split()), domain)


def from_headers(values: Iterable[str], url: str, domain: str) -> str | None:
    """The same of the Link headers (RFC 8288) of the page at `url`, given by their values."""
    return _only(targets(values, url, "canonical"), domain)


def targets(values: Iterable[str], url: str, relation: str) -> list[str]:
    """Where Link headers lead by this relation, resolved against the page at `url`; "" for what is no URL."""
    found = (match for value in values for match in _LINK.finditer(value))
    return [resolve(url, match[1]) or "" for match in found if _has_relation(match[2], relation)]


def _has_relation(parameters: str, relation: str) -> bool:
    rel = _REL.search(parameters)
    return rel is not None and relation in (rel[1] or rel[2] or "").lower().split()


def _only(claims: Iterable[str], domain: str) -> str | None:
    """Pages that name several originals name none: nobody knows which one was meant."""
    named = {claim.partition("#")[0] for claim in claims}
    return named.pop() if len(named) == 1 and all(_is_within(claim, domain) for claim in named) else None


def _is_within(url: str, domain: str) -> bool:
    """True for an http(s) URL of this registrable domain; of this host and port, where `domain` is an address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or not domain or len(url) > MAX_LENGTH:
        return False
    return host == domain or host.endswith(f".{domain}") or f"{host}:{port}" == domain
