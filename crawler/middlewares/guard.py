"""First on every request, last on every network error: the network guard and the crawler's identity.

No request passes with a URL that `NetworkRules` refuses, and none without our name on it. Addresses are checked by
`resolver.py` (before connecting) and `handler.py` (on the connection); their refusals become outcomes here.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.exceptions import CannotResolveHostError

from crawler.document import Drop, DropReason
from crawler.downloader.handler import ForbiddenAddressError
from crawler.downloader.resolver import refusals
from crawler.middlewares.defaults import FOREIGN_HEADERS
from crawler.middlewares.outcomes import Denied, Held
from crawler.policy.facts import user_agent
from crawler.policy.network import NO_CONTACT, NetworkRules, rules_of
from crawler.runtime import config_of
from crawler.scheduler.scheduler import clock_of
from crawler.statkeys import NO_CONTACT_HOSTS, NO_CONTACT_REFUSED
from crawler.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)

_NO_CONTACT_PAUSE = 3_600.0  # seconds; a later run with a contact tries again at once
MOST_NAMED = 5
"""Hosts off this machine that the summary names."""


class GuardMiddleware:
    """Refuses forbidden URLs, signs every request, and turns refused addresses into outcomes."""

    def __init__(self, rules: NetworkRules, identity: str, count: Callable[[str], None], clock: Callable[[], float]):
        self._rules = rules
        self._identity = identity
        self._count = count
        self._clock = clock

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings; say loudly where the network has been opened."""
        config = config_of(crawler)
        if config.policy.network_allow:
            logger.warning("NETWORK_ALLOW opens %s to this crawl", ", ".join(config.policy.network_allow))
        if config.policy.certificate_exceptions:
            logger.warning("certificates of %s are not verified", ", ".join(config.policy.certificate_exceptions))
        identity = user_agent(config.crawl.product_token, __version__, config.crawl.contact)
        return cls(rules_of(config), identity, _counter(crawler), clock_of(crawler))

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
        parts = urlsplit(request.url)
        self._count(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        drop = Drop("guard", DropReason.HOLD_NO_CONTACT, NO_CONTACT)
        raise Held(drop, self._clock() + _NO_CONTACT_PAUSE, f"{parts.scheme}://{parts.netloc}")


def _counter(crawler: Crawler) -> Callable[[str], None]:
    """Counts a request that was refused because the crawl names no contact, and its host for the summary."""

    def count(origin: str) -> None:
        assert crawler.stats is not None
        hosts = crawler.stats.get_value(NO_CONTACT_HOSTS, [])
        if not crawler.stats.get_value(NO_CONTACT_REFUSED, 0):
            logger.warning("%s: %s is not asked", NO_CONTACT, origin)
        crawler.stats.inc_value(NO_CONTACT_REFUSED)
        if origin not in hosts and len(hosts) < MOST_NAMED:
            crawler.stats.set_value(NO_CONTACT_HOSTS, [*hosts, origin])

    return count
