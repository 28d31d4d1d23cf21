"""Whence an archive comes, as its warcinfo record says (ISO 28500:2017, section 6.2): who wrote it, under which rules.

Everything in it is somebody's claim: read as text, cut, and never acted upon. Our own archives say the facts of policy
under which they were crawled in a field of their own, `X-Crawl-Policy`, which other readers pass over.
"""

from __future__ import annotations

from typing import Any, cast

import orjson

from crawler.policy.facts import PolicyFacts, checked_facts
from crawler.storage.types import Origin

POLICY = "X-Crawl-Policy"
USER_AGENT = "http-header-user-agent"
_NAMES = {
    "software": "software",
    "software-info": "software",
    "ispartof": "is_part_of",
    "operator": "operator",
    "publisher": "publisher",
    "robots": "robots",
    USER_AGENT: "user_agent",
    "description": "description",
}
"""Fields of a warcinfo record, in lower case, and ours. Common Crawl's WET files say `Software-Info`."""
MAX_TEXT = 300
MAX_BLOCK = 2**16
_MAX_LINES = 100


def policy_fields(facts: PolicyFacts) -> dict[str, str]:
    """What our warcinfo records say of the rules of their crawl."""
    return {USER_AGENT: facts["user_agent"], POLICY: orjson.dumps(facts, option=orjson.OPT_SORT_KEYS).decode()}


def origin_of(block: bytes) -> Origin:
    """What the body of a warcinfo record says; empty where it says nothing that is known here. Never raises."""
    found: dict[str, Any] = {}
    for line in block[:MAX_BLOCK].decode("utf-8", "replace").splitlines()[:_MAX_LINES]:
        name, colon, value = line.partition(":")
        if not colon:
            continue
        if name.strip().lower() == POLICY.lower():
            found["policy"] = _facts(value)
        elif (known := _NAMES.get(name.strip().lower())) and (text := _printable(value)):
            found.setdefault(known, text)
    return cast("Origin", {name: value for name, value in found.items() if value})


def _facts(value: str) -> PolicyFacts | None:
    try:
        return checked_facts(orjson.loads(value)) or None
    except ValueError:
        return None


def _printable(value: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in value).split())[:MAX_TEXT]
