"""Content Signals (contentsignals.org): `Content-Signal: search=yes, ai-train=no` in robots.txt, and as a header."""

from __future__ import annotations

import re

from crawler.document import Signal
from crawler.policy.headers import Headers, values_of
from crawler.policy.robots.parse import RobotsFile
from crawler.policy.signals.base import ALLOW, DISALLOW, UNKNOWN, Context, Detector, signal
from crawler.policy.signals.scoped import applicable

NAME = "content-signal"
VERSION = "3"

_YES = re.compile(r"\s*ai-train\s*=\s*\"?yes\b", re.IGNORECASE)
_NO = re.compile(r"(?<![\w-])ai-train\s*=\s*\"?no\b", re.IGNORECASE)


def verdict_of(value: str) -> str:
    """The most restrictive `ai-train` of a value; unknown where it says nothing readable about training.

    A refusal counts behind any separator (`search=yes; ai-train=no`), a permission only where the grammar has it.
    """
    if _NO.search(value):
        return DISALLOW
    return ALLOW if any(_YES.match(item) for item in value.split(",")) else UNKNOWN


def from_robots(robots: RobotsFile, path: str, context: Context) -> list[Signal]:
    """Lines before the first group (they speak to everybody) and lines of the groups that apply to this crawler."""
    values = applicable(robots.readings_of(context.product_token, NAME), path)
    return [signal(NAME, "robots.txt", value, verdict_of(value)) for value in values]


def from_headers(headers: Headers, _context: Context) -> list[Signal]:
    """Each Content-Signal header line."""
    return [signal(NAME, "header", value, verdict_of(value)) for value in values_of(headers, b"content-signal")]


DETECTOR = Detector(NAME, VERSION, "a Content Signal says no to AI training", headers=from_headers, robots=from_robots)
