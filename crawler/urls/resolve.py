"""A reference becomes an absolute URL as a browser reads it (https://url.spec.whatwg.org/, by ada-url).

The one grammar for links, redirects, control files, sitemaps, refreshes and canonical links: two readers of one
reference ask two different files, and the wrong one says "no such page".
"""

from __future__ import annotations

import re

import ada_url

MAX_REFERENCE = 2**16
"""Characters of a reference; longer ones name nothing that could be fetched."""

_NO_UTF8 = re.compile(rb"[\x80-\xff]")


def resolve(base: str, reference: str) -> str | None:
    """The absolute URL, of whatever scheme, that `reference` names at `base`; None where it is no URL.

    base: absolute, or empty: then the reference has to stand alone.
    """
    if len(reference) > MAX_REFERENCE:
        return None
    try:
        return str(ada_url.join_url(base, reference) if base else ada_url.normalize_url(reference))
    except (ValueError, UnicodeEncodeError):
        return None


def header_text(value: bytes) -> str:
    """The reference in a header: UTF-8; bytes that are none mean the path with just these bytes, as in Chromium."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return _NO_UTF8.sub(lambda octet: b"%%%02X" % octet[0][0], value).decode("ascii")
