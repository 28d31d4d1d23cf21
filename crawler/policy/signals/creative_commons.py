"""Links to Creative Commons licences and signals are recorded only: a licence is no opt-out.

The licence that counts is the allowlist's; this is what the page says about itself.
"""

from __future__ import annotations

import re

from crawler.document import STATED_LICENCE, Signal
from crawler.policy.headers import Headers, values_of
from crawler.policy.signals.base import UNKNOWN, Context, Detector, Links, signal

NAME = STATED_LICENCE
VERSION = "1"

_LINK = re.compile(r"<([^<>]*)>([^<>]*)")
_REL = re.compile(r"""[;\s]rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)
_ANCHOR = re.compile(r"[;\s]anchor\s*=", re.IGNORECASE)
"""A link of something else than the page (RFC 8288, section 3.2)."""
_HOST = re.compile(r"(?:https?:)?//(?:www\.)?creativecommons\.org/", re.IGNORECASE)


def from_headers(headers: Headers, _context: Context) -> list[Signal]:
    """Every Creative Commons address that a Link header names as a licence (RFC 8288, RFC 4946)."""
    found = [match for value in values_of(headers, b"link") for match in _LINK.finditer(value)]
    return [
        signal(NAME, "header", target, UNKNOWN)
        for target, parameters in (match.groups() for match in found)
        if _is_license(parameters) and _HOST.match(target)
    ]


def _is_license(parameters: str) -> bool:
    rel = _REL.search(parameters)
    return rel is not None and "license" in (rel[1] or rel[2] or "").lower().split() and not _ANCHOR.search(parameters)


def from_links(links: Links, _context: Context) -> list[Signal]:
    """Every Creative Commons address that a <link rel=license> names."""
    return [
        signal(NAME, "meta", href, UNKNOWN)
        for rel, _kind, href in links
        if "license" in rel.lower().split() and _HOST.match(href.strip())
    ]


DETECTOR = Detector(NAME, VERSION, headers=from_headers, links=from_links)
