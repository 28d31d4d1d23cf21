"""The response headers may refuse AI training; they are judged before the body is read.

The `headers_received` signal comes before the body; a refusal stops the download there. Scrapy logs and swallows what
goes wrong in a signal handler, so the same question is asked again on the response: an error there fails closed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import StopDownload

from crawler.middlewares._meta import evidence_of, obeys_opt_outs
from crawler.middlewares.outcomes import Denied
from crawler.middlewares.source import lines_of
from crawler.policy.decide import Verdict, decide_headers
from crawler.runtime import config_of
from crawler.scheduler.scheduler import clock_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response


class OptOutMiddleware:
    """Enforces X-Robots-Tag, Content-Usage, Content-Signal and what else stands in headers; records what it saw."""

    def __init__(self, product_token: str, profile: str, clock: Callable[[], float] = time.time) -> None:
        self._product_token = product_token
        self._profile = profile
        self._clock = clock
        # on the headers of the answer that is on its way; not in `meta`, which a copy of the request would take along
        self._judged: WeakKeyDictionary[Request, Verdict] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings and listen for response headers."""
        config = config_of(crawler)
        middleware = cls(config.crawl.product_token, config.policy.optout_profile, clock_of(crawler))
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        return middleware

    def headers_received(self, headers: Headers, request: Request, **_: Any) -> None:
        """Raises: StopDownload where the headers refuse; the response then comes without a body.

        `meta["fetched_at"]` is when they arrived: dates in signals are compared with it, in the crawl as in a replay.
        """
        request.meta["fetched_at"] = self._clock()
        if obeys_opt_outs(request):
            verdict = self._judged[request] = self._judge(request, headers)
            if not verdict.ok:
                raise StopDownload(fail=False)

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises: Denied, with every signal seen up to here."""
        if not obeys_opt_outs(request):
            return response
        verdict = self._judged.pop(request, None) or self._judge(request, response.headers)
        evidence = evidence_of(request)
        evidence.signals.extend(verdict.signals)
        if verdict.drop:
            raise Denied(verdict.drop, tuple(evidence.signals))
        return response

    def _judge(self, request: Request, headers: Headers) -> Verdict:
        now = request.meta.setdefault("fetched_at", self._clock())
        return decide_headers(lines_of(request, headers), self._product_token, self._profile, now)
