"""What the keys of an allowlist take: text of a scalar in, value out; ValueError says what was expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from typing import Any

from crawler.config.text import COMMENTS, HIDDEN_TEXT, PROFILE_NAME, PROFILE_NAMES
from crawler.seeds import patterns
from crawler.seeds.hours import hours_of
from crawler.seeds.seed_file import behind_url
from crawler.urls.canonicalize import address, canonicalize, host_of, is_public_suffix, normal_escapes

MOST_FEEDS = 10_000
"""Feeds of one host."""
MOST_URGENT = 100
"""The highest priority of a domain."""


def _domain(text: str) -> str:
    url = canonicalize(f"http://{text}/") if text and "/" not in text and "*" not in text else None
    if url is None or not host_of(url).removeprefix("["):
        raise ValueError("expected a domain name such as example.org (subdomains are included, no scheme, no path)")
    host = host_of(url)
    if is_public_suffix(host):
        raise ValueError("expected a registered domain; this one is a public suffix and covers other owners")
    return host


def _text(text: str) -> str:
    if not text.strip() or len(text) > 500 or any(ord(c) < 0x20 for c in text):
        raise ValueError("expected one line of text")
    return text.strip()


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError("expected a date such as 2026-12-31") from None


def _number(least: float, most: float, expected: str, *, is_open: bool = False) -> Callable[[str], float]:
    """A number from `least` (`is_open`: above it) to `most`."""

    def check(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number <= most or (is_open and number == least):
            raise ValueError(f"expected {expected}")
        return number

    return check


def _whole(least: int, most: int, expected: str) -> Callable[[str], int]:
    def check(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise ValueError(f"expected {expected}")
        return int(text)

    return check


def _sitemap(text: str) -> str:
    found = address(text)
    if found is None:
        raise ValueError("expected an absolute http(s) URL")
    if problem := behind_url(text.strip(), "expected the URL of a sitemap"):
        raise ValueError(problem)
    return found.asked


def _pattern(text: str) -> str:
    if complaint := patterns.complaint(text):
        raise ValueError(complaint)
    return normal_escapes(text)


def _parameter(text: str) -> str:
    name = normal_escapes(text.strip()).lower()
    if not name or len(name) > 100 or any(c in "&=?#" for c in text) or any(c.isspace() for c in text.strip()):
        raise ValueError("expected the name of a query parameter, such as ref")
    return name


def _one_of(*choices: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return text

    return check


def _profile(text: str) -> str:
    if not PROFILE_NAME.fullmatch(text):
        raise ValueError(f"expected auto, {', '.join(PROFILE_NAMES)}, or a profile of QUALITY_PROFILES_FILE")
    return text


SCALARS: dict[str, Callable[[str], Any]] = {
    "domain": _domain,
    "tier": _one_of("A", "B"),
    "licence": _text,
    "reviewer": _text,
    "date": _day,
    "expires": _day,
    "delay": _number(0, 3600, "seconds between requests, from 0 to 3600"),
    "max_pages": _whole(1, 2**31, "a whole number of at least 1"),
    "priority": _whole(0, MOST_URGENT, f"a whole number from 0 to {MOST_URGENT}; domains with a higher one come first"),
    "hours": lambda text: str(hours_of(text)),
    "ttl_days": _number(0, 36_500, "days after which a document is removed, above 0, at most 36500", is_open=True),
    "js": _one_of("auto", "always", "never"),
    "js_wait_selector": _text,
    "js_routes": _one_of("hash"),
    "js_wait": _number(0, 60, "seconds that the browser waits before it looks at a page, from 0 to 60"),
    "js_timeout": _number(1, 600, "seconds that a page may take in the browser, from 1 to 600"),
    "discovery": _one_of("sitemap", "links"),
    "feeds": _whole(0, MOST_FEEDS, f"how many feeds of a host are read, from 0 to {MOST_FEEDS}"),
    "profile": _profile,
    "comments": _one_of(*COMMENTS),
    "hidden_text": _one_of(*HIDDEN_TEXT),
}
"""Keys with one value."""
LISTS: dict[str, Callable[[str], str]] = {
    "sitemaps": _sitemap,
    "include": _pattern,
    "exclude": _pattern,
    "js_capture": _pattern,
    "tracking": _parameter,
}
"""Keys with a list of values."""
