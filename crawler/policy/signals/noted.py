"""Files that no specification makes an opt-out are fetched where a setting asks for them, and recorded.

`/ai-policy.json` has no specification; llms.txt addresses readers of a site, not collectors of text. What stands in
them is evidence for a person, never a verdict.
"""

from __future__ import annotations

import hashlib

from crawler.document import Signal
from crawler.policy.signals.base import UNKNOWN, Context, Detector, OptOutFile, signal

VERSION = "1"
_SHOWN = 300  # bytes of the beginning of an ai-policy.json


def readable(_body: bytes) -> str:
    """Nothing about these files is wrong: they are not read."""
    return ""


def _whole(body: bytes) -> bytes:
    return body


def from_policy(body: bytes, _path: str, _context: Context) -> list[Signal]:
    """The beginning of the file, as it is."""
    return [signal("ai-policy", "well-known", body[:_SHOWN].decode("utf-8", "replace"), UNKNOWN)]


def from_llms(body: bytes, _path: str, _context: Context) -> list[Signal]:
    """That there is one: its size and hash, none of its text."""
    value = f"{len(body)} bytes, sha256 {hashlib.sha256(body).hexdigest()}"
    return [signal("llms.txt", "well-known", value, UNKNOWN)]


AI_POLICY = Detector(
    "ai-policy", VERSION, file=OptOutFile("/ai-policy.json", readable, _whole, from_policy, noted="ai-policy.json")
)
LLMS_TXT = Detector("llms.txt", VERSION, file=OptOutFile("/llms.txt", readable, _whole, from_llms, noted="llms.txt"))
