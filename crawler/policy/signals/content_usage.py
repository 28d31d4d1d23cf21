"""AIPREF `Content-Usage`: an RFC 9651 dictionary in a header, or behind an optional path in a robots.txt group.

Sources: draft-ietf-aipref-vocab and draft-ietf-aipref-attach.
"""

from __future__ import annotations

from typing import Any

import http_sf

from crawler.document import Signal
from crawler.policy.headers import Headers, values_of
from crawler.policy.robots.parse import RobotsFile
from crawler.policy.signals.base import ALLOW, DISALLOW, UNKNOWN, Context, Detector, signal
from crawler.policy.signals.scoped import applicable

NAME = "content-usage"
VERSION = "3"

_TRAINING = ("train-genai", "train-ai")
_PARENT = "bots"
_MAX_VALUE = 8_192


def verdict_of(value: str) -> str:
    """What the dictionary says about training; malformed input is unknown, the last duplicate of a key wins.

    A preference that is not stated follows its parent category (`bots`: any automated processing).
    """
    stated = _dictionary(value)
    answers = [stated[key] for key in _TRAINING if stated.get(key) in {"y", "n"}] or [stated.get(_PARENT)]
    return DISALLOW if "n" in answers else ALLOW if "y" in answers else UNKNOWN


def from_robots(robots: RobotsFile, path: str, context: Context) -> list[Signal]:
    """Rules of the groups that apply to this crawler: longest path; among identical paths each speaks for itself."""
    values = applicable(robots.readings_of(context.product_token, NAME), path)
    return [signal(NAME, "robots.txt", value, verdict_of(value)) for value in values]


def from_headers(headers: Headers, _context: Context) -> list[Signal]:
    """All Content-Usage lines, combined into one dictionary as RFC 9110 section 5.3 says."""
    lines = values_of(headers, b"content-usage")
    value = ", ".join(lines)
    return [signal(NAME, "header", value, verdict_of(value))] if lines else []


def _dictionary(value: str) -> dict[str, Any]:
    if len(value) > _MAX_VALUE:
        return {}
    try:
        parsed: Any = http_sf.parse(value.encode("ascii"), tltype="dictionary")
    except ValueError:  # not ASCII, or not a structured field
        return {}
    return {key: str(item[0]) for key, item in parsed.items() if isinstance(item, tuple)}


DETECTOR = Detector(
    NAME,
    VERSION,
    "a Content-Usage preference (AIPREF) says no to AI training",
    headers=from_headers,
    robots=from_robots,
)
