"""A response that is not a page becomes an outcome with its reason, by its status line.

401, 402, 403, 451      denied: an answer, never worked around; 403 that says when to come back is a 429
404, 410                gone
408, 425, 5xx           try later; 503 with Retry-After for the whole host
429                     try later, the whole host
3xx                     `redirect.py` has dealt with those that have a target
304                     passes where we asked for it (`conditional.py`)
204, 205, 304, others   denied as an HTTP error
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawler.document import Drop, DropReason
from crawler.middlewares._meta import answers_condition, header_lines, is_control_file
from crawler.middlewares.outcomes import Denied, TryLater
from crawler.policy.headers import retry_after_seconds
from crawler.policy.status import DENIALS, GONE, PAGE
from crawler.scheduler.scheduler import clock_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_LATER = frozenset({408, 425})
_HOST_WIDE = frozenset({429, 503})


class StatusMiddleware:
    """Turns a status that brings no page into Denied or TryLater."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Goes by the clock of the crawl."""
        return cls(clock_of(crawler))

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises: Denied, TryLater."""
        status = response.status
        if is_control_file(request) or status in PAGE or answers_condition(request, response):
            return response
        detail = f"HTTP {status}"
        if status == 403 and (throttled := self._host_wide(response, detail)).not_before is not None:
            raise throttled  # a limit of requests that is used up, as GitHub says it
        if status in DENIALS:
            raise Denied(Drop("fetch", DropReason.ACCESS_DENIED, detail))
        if status in GONE:
            raise Denied(Drop("fetch", DropReason.GONE, detail))
        if status in _HOST_WIDE:
            raise self._host_wide(response, detail)
        if status in _LATER or status >= 500:
            raise TryLater(Drop("fetch", DropReason.HTTP_ERROR, detail))
        raise Denied(Drop("fetch", DropReason.HTTP_ERROR, detail))

    def _host_wide(self, response: Response, detail: str) -> TryLater:
        now = self._clock()
        pause = retry_after_seconds(header_lines(response.headers), now) or None  # "at once" is no time to come back
        reason = DropReason.HTTP_ERROR if pause is None else DropReason.HOLD_RATE_LIMITED
        not_before = None if pause is None else now + pause
        return TryLater(Drop("fetch", reason, detail), not_before, host_wide=True)
