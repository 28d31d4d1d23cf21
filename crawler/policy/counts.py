"""Refusals are counted under these statistics keys; some of them are blocks.

policy/denied/<protocol>     robots, ai-bots, content-signal, …, unavailable-after, http, network
policy/held/<reason>         cannot be judged now
policy/blocked               the server turned us away: 401, 402, 403, 451, 429; also per domain, up to a bound
"""

from __future__ import annotations

from collections.abc import Iterator

from crawler.document import Drop
from crawler.policy.decide import protocol_of
from crawler.statkeys import BLOCKED, DENIED, HELD

MAX_DOMAINS = 100
"""Domains with a key of their own; blocks of further ones are counted in the sum only."""


class PolicyCounts:
    """Says which keys a verdict adds one to; remembers which domains have keys of their own."""

    def __init__(self) -> None:
        self._domains: set[str] = set()

    def keys(self, verdict: Drop, domain: str) -> Iterator[str]:
        """The keys for one rejected URL; none where another room rejected it."""
        if verdict.reason.denial:
            yield f"{DENIED}/{verdict.reason.denial}"
        elif verdict.stage == "optout":
            yield f"{DENIED}/{protocol_of(verdict)}"
        elif verdict.reason.is_hold:
            yield f"{HELD}/{verdict.reason}"
        if verdict.reason.blocks:
            yield BLOCKED
            if domain in self._domains or len(self._domains) < MAX_DOMAINS:
                self._domains.add(domain)
                yield f"{BLOCKED}/{domain}"
