"""What the workers of a crawl remember of a domain: do its pages have to be drawn, and is that new?

After BROWSER_DIRECT_AFTER pages in a row that only a browser could read, the domain's pages go there directly; after
BROWSER_PROBE_SECONDS the domain has to show it again. The note lies on the frontier's server for all workers. Domains
that never needed a browser cost nothing: their notes are neither written nor asked for.
"""

from __future__ import annotations

import json
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

logger = logging.getLogger(__name__)

MAX_DOMAINS = 10_000
RECENT = 20
"""Pages of a domain whose share of drawn ones is compared with what it was before."""
JUMP = 0.5
"""A share that is higher by so much (0 to 1) than before is told."""


class SharedBlobs(Protocol):
    """What the frontier offers to all workers (`crawler.frontier.shared`)."""

    async def get_blob(self, name: str) -> bytes | None:
        """The stored bytes; None where absent or too old."""

    async def put_blob(self, name: str, value: bytes, ttl: float) -> None:
        """Store bytes for `ttl` seconds."""


@dataclass(slots=True)
class _Domain:
    in_a_row: int = 0  # pages that had to be drawn, up to the latest
    until: float = 0.0  # epoch seconds up to which the domain goes to the browser directly
    pages: int = 0
    drawn: int = 0
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT))
    told: bool = False


class DomainMemory:
    """`blobs` gives the shared store once it exists. direct_after: pages; probe_seconds: how long it is believed."""

    def __init__(
        self,
        blobs: Callable[[], SharedBlobs],
        direct_after: int,
        probe_seconds: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._blobs, self._direct_after, self._probe_seconds = blobs, direct_after, probe_seconds
        self._clock = clock
        self._domains: OrderedDict[str, _Domain] = OrderedDict()

    def is_direct(self, domain: str) -> bool:
        """True where pages of the domain go to the browser without a look at what was sent."""
        known = self._domains.get(domain)
        return known is not None and known.until > self._clock()

    async def recall(self, domain: str) -> None:
        """Take over what other workers know of a domain; asked where a page turned out to be a shell."""
        if not self.is_direct(domain) and (blob := await self._blobs().get_blob(f"browser:{domain}")):
            self._of(domain).until = _until(blob)

    async def learn(self, domain: str, *, needed: bool) -> None:
        """A page of the domain was drawn: did it have to be?"""
        self.saw(domain, drawn=True)
        known = self._of(domain)
        known.in_a_row = known.in_a_row + 1 if needed else 0
        if not needed:
            known.until = 0.0
        elif known.in_a_row >= self._direct_after and known.until <= self._clock():
            known.until = self._clock() + self._probe_seconds
            note = json.dumps({"until": known.until}).encode()
            await self._blobs().put_blob(f"browser:{domain}", note, self._probe_seconds)

    def saw(self, domain: str, *, drawn: bool) -> None:
        """One more page of the domain; tells once where far more of them are drawn than before."""
        known = self._of(domain)
        before = (known.drawn - sum(known.recent)) / max(known.pages - len(known.recent), 1)
        known.pages, known.drawn = known.pages + 1, known.drawn + drawn
        known.recent.append(drawn)
        share = sum(known.recent) / len(known.recent)
        if not known.told and known.pages >= 2 * RECENT and share >= before + JUMP:
            known.told = True
            logger.warning(
                "%s: %.0f %% of its latest %d pages needed a browser, before that %.0f %%: has the site changed?",
                domain, 100 * share, RECENT, 100 * before,
            )  # fmt: skip

    def _of(self, domain: str) -> _Domain:
        known = self._domains.setdefault(domain, _Domain())
        self._domains.move_to_end(domain)
        while len(self._domains) > MAX_DOMAINS:
            self._domains.popitem(last=False)
        return known


def _until(blob: bytes) -> float:
    """Whoever reaches the server may have written it."""
    try:
        until = json.loads(blob)["until"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0.0
    return float(until) if isinstance(until, int | float) else 0.0
