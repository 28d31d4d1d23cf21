"""What the add-on insists on: components that must be there in this order, what of Scrapy must not, and settings.

`crawler/settings.py` is where all of it is switched on, with numbers. `addon.py` refuses to start a crawl that deviates
from this page.
"""

from __future__ import annotations

from typing import Any

_SCRAPY = "scrapy.downloadermiddlewares"

COMPLIANCE: tuple[str, ...] = (
    "crawler.middlewares.retry.RetryMiddleware",
    "crawler.middlewares.withdrawn.WithdrawnMiddleware",
    "crawler.middlewares.licence.LicenceMiddleware",
    "crawler.middlewares.guard.GuardMiddleware",
    "crawler.middlewares.robots.RobotsMiddleware",
    "crawler.middlewares.limits.DecompressionMiddleware",
    "crawler.middlewares.limits.LimitsMiddleware",
    "crawler.middlewares.conditional.ConditionalMiddleware",
    "crawler.middlewares.optout.OptOutMiddleware",
    "crawler.middlewares.status.StatusMiddleware",
    "crawler.middlewares.redirect.RedirectMiddleware",
    "crawler.scheduler.gate.PolitenessGate",
    "crawler.middlewares.signature.SignatureMiddleware",  # the manifest says that every request was signed
)
"""What must be there, in this order."""

REFUSED: frozenset[str] = frozenset(
    {
        f"{_SCRAPY}.offsite.OffsiteMiddleware",  # scope is the frontier's
        f"{_SCRAPY}.robotstxt.RobotsTxtMiddleware",  # fails open
        f"{_SCRAPY}.httpauth.HttpAuthMiddleware",  # a login wall is an answer
        f"{_SCRAPY}.useragent.UserAgentMiddleware",  # one identity, set by the guard
        f"{_SCRAPY}.retry.RetryMiddleware",  # the frontier retries
        f"{_SCRAPY}.redirect.MetaRefreshMiddleware",
        f"{_SCRAPY}.httpcompression.HttpCompressionMiddleware",  # ours is a subclass
        f"{_SCRAPY}.redirect.RedirectMiddleware",
        f"{_SCRAPY}.cookies.CookiesMiddleware",
        f"{_SCRAPY}.httpproxy.HttpProxyMiddleware",  # a proxy would resolve names behind our back
        f"{_SCRAPY}.httpcache.HttpCacheMiddleware",
    }
)
"""What of Scrapy must not be there. Names, so that what is not wanted is not even loaded."""

FOREIGN_HEADERS = ("Cookie", "Referer", "Authorization", "Proxy-Authorization")
"""Headers that no request carries."""

HANDLER = "crawler.downloader.handler.GuardedDownloadHandler"
"""What fetches http and https; nothing else is fetched."""

REQUIRED: dict[str, Any] = {
    "TWISTED_DNS_RESOLVER": "crawler.downloader.resolver.GuardedResolver",
    "TWISTED_REACTOR_ENABLED": True,
    "DOWNLOAD_VERIFY_CERTIFICATES": True,
    "DOWNLOAD_FAIL_ON_DATALOSS": True,  # half a page is no page
    "COOKIES_ENABLED": False,
    "REFERER_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "HTTPCACHE_ENABLED": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,  # it runs posted Python
}
"""Settings that the add-on insists on."""
