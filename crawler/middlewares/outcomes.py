"""Outcomes are exceptions by which a middleware tells the spider's errback what became of a request.

    IgnoreRequest
    ├── Denied      a final no, with its reason and the signals that said so
    │   └── NotModified  the page is as it was at the last visit
    ├── Held        cannot be judged now; the URL stays in the frontier
    ├── TryLater    a failure that may pass; `drop` is what to record when no try is left
    └── Redirected  the URL only points to another one, which becomes a frontier entry of its own

Scrapy counts and passes an `IgnoreRequest` to the errback without an error line in the log.
"""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler.document import Drop, DropReason, Signal
from crawler.policy.headers import shown_url


class Denied(IgnoreRequest):
    """A final no. `signals` are the opt-out statements seen up to here, whatever they said."""

    def __init__(self, drop: Drop, signals: tuple[Signal, ...] = ()) -> None:
        self.drop = drop
        self.signals = signals
        super().__init__(f"{drop.reason}: {drop.detail}")


class NotModified(Denied):
    """304: the page is as it was when we fetched it last. `response` has headers only."""

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__(Drop("fetch", DropReason.UNCHANGED, "HTTP 304"))


class Held(IgnoreRequest):
    """The host cannot be judged now (robots.txt or another control file is out of reach).

    `drop.reason` is a hold reason; `until` is in seconds since the epoch; `authority` is scheme://host:port.
    """

    def __init__(self, drop: Drop, until: float, authority: str) -> None:
        self.drop = drop
        self.until = until
        self.authority = authority
        super().__init__(f"{drop.reason}: {authority} until {until:.0f}: {drop.detail}")


class TryLater(IgnoreRequest):
    """A failure that may pass. `drop` is what to record if no try is left.

    `not_before` is in seconds since the epoch; None leaves the pause to the scheduler's back-off. `host_wide` (429,
    503) asks for the whole host to be left alone, by every worker.
    """

    def __init__(self, drop: Drop, not_before: float | None = None, host_wide: bool = False) -> None:
        self.drop = drop
        self.not_before = not_before
        self.host_wide = host_wide
        super().__init__(f"{drop.reason}: {drop.detail}")


class Redirected(IgnoreRequest):
    """The response was a redirect. `target` is absolute and not yet checked; `permanent` is True for 301 and 308."""

    def __init__(self, target: str, permanent: bool) -> None:
        self.target = target
        self.permanent = permanent
        super().__init__(f"redirected to {shown_url(target)}")
