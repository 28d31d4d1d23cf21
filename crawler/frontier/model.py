"""The frontier's vocabulary: what goes in (`Link`), what comes out (`Lease`), and how full it is (`Counts`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from crawler.urls.link import Link

if TYPE_CHECKING:
    from crawler.recrawl.visit import Visit


class PutStatus(StrEnum):
    """What became of a link that was put."""

    QUEUED = "queued"
    SEEN = "seen"  # known before: queued, leased, held, done or dead
    CAPPED = "capped"  # beyond the depth limit or the page cap of its scope; not remembered
    TRAPPED = "trapped"  # looks generated without end (`crawler.urls.traps`); not remembered
    BLOCKED = "blocked"  # the scope was purged
    FULL = "full"  # the URLs that wait of its scope take up all bytes that they may; not remembered


class Mode(StrEnum):
    """Whether leases are given out; shared by all workers."""

    RUN = "run"
    PAUSE = "pause"  # nothing is handed out, workers wait
    DRAIN = "drain"  # nothing is handed out, workers finish and end


class Nack(IntEnum):
    """Answer of the server to a failed try."""

    STALE = -1  # the lease had expired or was settled: nothing happened
    EXHAUSTED = 0  # no try is left; the lease stays until it is acknowledged, and counts as dead then
    QUEUED = 1


class Mark(StrEnum):
    """What a worker says of a lease while it has it. Only what is in hand when a worker dies is suspected of that."""

    KEEP = ""  # as before
    IN_HAND = "h"  # its request is sent next, or a control file's that it waits for; until its outcome is recorded
    ALONE = "a"  # in hand, and nothing else is
    WAITING = "w"  # for its turn
    DELIVERED = "d"  # its outcome is on its way into the store: whatever happens now is not the page's doing


class Fault(IntEnum):
    """Whose failure a failed try was. The host's count towards its circuit breaker."""

    URL = 0  # the page's own, or nobody's
    HOST = 1  # no connection, no answer in time, 5xx
    LOAD = 2  # 429 or 503 without a time to come back: the host's, and all workers slow down


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right, until `expires_at`, to fetch one URL. Whoever holds it settles, retries, holds or releases it.

    `link` is what was known of the URL when it was put. `attempt` is 1 at the first try. `exhausted` says that no try
    was left when it was handed out (workers died of it): it must be recorded and settled, not fetched. `alone`: a
    worker died with it in hand, so it is fetched and judged with nothing else in hand. `slot` is the politeness slot
    that came with it: milliseconds since the epoch at which the scope may be asked again; `granted_at` its beginning.
    `visit` is what is remembered of the URL's last fetch, None at its first. `shape` is that of the URL as it was
    queued, three letters (`crawler.urls.shape.shape_id`), empty where it was queued without.
    """

    link: Link
    token: str = ""
    scope: str = ""
    shape: str = ""
    attempt: int = 1
    expires_at: float = float("inf")
    granted_at: float = 0.0
    slot: int = 0
    holds: int = 0
    exhausted: bool = False
    alone: bool = False
    reasons: tuple[str, ...] = ()
    visit: Visit | None = None

    @property
    def url(self) -> str:
        """The canonical URL of what is to be fetched: its name."""
        return self.link.url

    @property
    def asked(self) -> str:
        """The URL to request: the name, or the spelling in which it was found."""
        return self.link.asked

    @property
    def kind(self) -> str:
        """What is expected there: a "page" or a "sitemap"."""
        return self.link.kind

    def __repr__(self) -> str:
        return f"<Lease {self.token} {self.url[:200]!r} attempt={self.attempt}>"


@dataclass(frozen=True, slots=True)
class Wire:
    """What one request cost its host: when it was sent (epoch seconds) and how long the answer took (seconds)."""

    sent_at: float
    latency: float


@dataclass(frozen=True, slots=True)
class Counts:
    """How full the frontier is, over all shards and workers.

    `queued` includes `waiting`: URLs whose turn is further away than the patience of the crawl (a blocked scope, a long
    Retry-After). `next_ready_at` is the earliest time at which something could change, epoch seconds.
    """

    queued: int = 0
    leased: int = 0
    held: int = 0
    done: int = 0
    dead: int = 0
    seen: int = 0
    purged: int = 0
    barren: int = 0  # links parked because their kind brought nothing new
    waiting: int = 0
    paused: int = 0  # of those queued: URLs of scopes that somebody has paused, which he means to go on with
    next_ready_at: float | None = None
    mode: Mode = Mode.RUN

    @property
    def pending(self) -> int:
        """URLs that keep a crawl going: not what is on hold, and nothing queued while draining."""
        return self.leased if self.mode is Mode.DRAIN else self.queued - self.waiting + self.leased


@dataclass(frozen=True, slots=True)
class Batch:
    """Answer to `lease`. `counts` is None while leases are plentiful: it is only worth its price when they run out."""

    leases: tuple[Lease, ...] = ()
    next_ready_at: float | None = None
    counts: Counts | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Politeness and patience, in seconds; the same for all workers of a crawl.

    `address_delay`: between requests to one IP address; `address_delays`: other ones by network.
    `max_pages`: of one scope, `total_pages`: of the crawl, sitemaps not counted; 0 = any number.
    `max_queued`: URLs of one scope that are kept in order; the others wait in a compact list; 0 = all in order.
    `max_bytes`: what the URLs that wait of one scope may take up on the server; 0 = any number.
    `breaker_failures`: URLs of a scope whose first try fails in a row until it is left alone for `breaker_pause`
    seconds, which doubles up to `breaker_longest`; 0 = never. `slowdown`: longest delay that 429 and 503 can bring
    about, 0 = none. `barren`: requests in a row that bring nothing new until the links of a shape are parked, twice as
    many for those of a scope; 0 = never. `explore`: share of requests that go to the shape asked least.
    `quality_weight`: from 0 = a token is a token to 1 = a token counts as much as the quality score of its text.
    """

    delay: float = 1.0
    concurrency: int = 1
    address_delay: float = 0.0
    address_delays: Mapping[str, float] = field(default_factory=dict)
    latency_factor: float = 1.0
    lease_seconds: float = 120.0
    tries: int = 4
    max_pages: int = 0
    total_pages: int = 0
    depth: int = 0
    patience: float = 60.0
    scope_by: str = "domain"
    shards: int = 1
    max_queued: int = 0
    max_bytes: int = 0
    breaker_failures: int = 5
    breaker_pause: float = 30.0
    breaker_longest: float = 3600.0
    slowdown: float = 60.0
    barren: int = 0
    explore: float = 0.0
    quality_weight: float = 0.0


DIED = "its worker died with nothing else in hand"
"""Reason of a failed try (`common.lua`, suspects): enough of them give a URL up."""
FOREVER = 7_258_118_400.0
"""2200-01-01T00:00:00Z in epoch seconds: until when a scope is paused that nobody resumes.

The scripts keep times below the year 2248 exactly (`common.lua`, SLOTS); the requests under way stand beside them.
"""
REOPENED, REOPENED_SECONDS = "reopened", 366 * 86_400.0
"""Blob of a frontier that makes failed visits once more, which the corpus has records of, and how long it is kept: at
the end of the crawl the records of the first visits go."""
