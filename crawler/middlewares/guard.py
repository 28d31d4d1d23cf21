"""First on every request, last on every network error: the network guard and the crawler's identity.

No request passes with a URL that `NetworkRules` refuses, and none without our name on it. Addresses are checked by
`resolver.py` (before connecting) and `handler.py` (on the connection); their refusals become outcomes here.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.defer import deferred_from_coro

from crawler.document import Drop, DropReason
from crawler.downloader.handler import ForbiddenAddressError
from crawler.downloader.resolver import refusals
from crawler.middlewares.defaults import FOREIGN_HEADERS
from crawler.middlewares.outcomes import Denied, Held
from crawler.policy.facts import user_agent
from crawler.policy.network import NO_CONTACT, NetworkRules, rules_of
from crawler.runtime import config_of
from crawler.scheduler.scheduler import clock_of
from crawler.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)

_NO_CONTACT_PAUSE = 3_600.0  # seconds; the crawl is being closed, a later run with a contact tries again


class GuardMiddleware:
    """Refuses forbidden URLs, signs every request, and turns refused addresses into outcomes."""

    def __init__(self, rules: NetworkRules, identity: str, stop: Callable[[str], None], clock: Callable[[], float]):
        self._rules = rules
        self._identity = identity
        self._stop = stop
        self._clock = clock
        self._complained = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings; say loudly where the network has been opened."""
        config = config_of(crawler)
        if config.policy.network_allow:
            logger.warning("NETWORK_ALLOW opens %s to this crawl", ", ".join(config.policy.network_allow))
        if config.policy.certificate_exceptions:
            logger.warning("certificates of %s are not verified", ", ".join(config.policy.certificate_exceptions))
        identity = user_agent(config.crawl.product_token, __version__, config.crawl.contact)
        return cls(rules_of(config), identity, _stop(crawler), clock_of(crawler))

    def process_request(self, request: Request) -> None:
        """Raises: Denied where the URL may not be requested."""
        if complaint := self._rules.url_complaint(request.url):
            self._refuse(request, complaint)
        request.meta.pop("proxy", None)
        for name in FOREIGN_HEADERS:
            request.headers.pop(name, None)
        request.headers["User-Agent"] = self._identity

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Raises: Denied or Held where the address was refused; other exceptions are left to `retry.py`."""
        if isinstance(exception, ForbiddenAddressError):
            self._refuse(request, str(exception))
        if isinstance(exception, CannotResolveHostError):
            host = (urlsplit(request.url).hostname or "").lower()
            if complaint := refusals.get(host):
                self._refuse(request, complaint)

    def _refuse(self, request: Request, complaint: str) -> None:
        if complaint != NO_CONTACT:
            raise Denied(Drop("guard", DropReason.NETWORK_FORBIDDEN, complaint))
        if not self._complained:
            self._complained = True
            logger.error("%s; set it to a URL or e-mail address that a site owner can reach", NO_CONTACT)
            self._stop("no_contact")
        parts = urlsplit(request.url)
        drop = Drop("guard", DropReason.HOLD_ROBOTS_UNREACHABLE, NO_CONTACT)
        raise Held(drop, self._clock() + _NO_CONTACT_PAUSE, f"{parts.scheme}://{parts.netloc}")


def _stop(crawler: Crawler) -> Callable[[str], None]:
    """A function that closes the spider for a reason, without waiting for it."""

    def stop(reason: str) -> None:
        engine: Any = crawler.engine
        deferred_from_coro(engine.close_spider_async(reason=reason))

    return stop
