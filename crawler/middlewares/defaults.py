"""The table that `settings.py` uses: which middleware stands where, and what of Scrapy is switched off.

Requests pass from the lowest number to the highest, responses and exceptions the other way. `addon.py` refuses to start
a crawl that deviates.
"""

from __future__ import annotations

from typing import Any

_HERE = "crawler.middlewares"
_SCRAPY = "scrapy.downloadermiddlewares"

COMPLIANCE: dict[str, int] = {
    f"{_HERE}.retry.RetryMiddleware": 50,  # exceptions, last: what nobody else explained is tried later
    f"{_HERE}.withdrawn.WithdrawnMiddleware": 80,  # requests, first: domains withdrawn from this corpus
    f"{_HERE}.licence.LicenceMiddleware": 90,  # requests, then: the allowlist still says yes
    f"{_HERE}.guard.GuardMiddleware": 100,  # requests, then: URL, identity; exceptions: refused addresses
    f"{_HERE}.robots.RobotsMiddleware": 200,  # robots.txt and the opt-outs in it
    f"{_HERE}.limits.DecompressionMiddleware": 500,  # responses, last: bodies bounded after decompression
    f"{_HERE}.limits.LimitsMiddleware": 600,  # text only
    f"{_HERE}.conditional.ConditionalMiddleware": 650,  # what was fetched before is asked for only if it changed
    f"{_HERE}.optout.OptOutMiddleware": 700,  # opt-outs in headers
    f"{_HERE}.status.StatusMiddleware": 800,  # no page, no body
    f"{_HERE}.redirect.RedirectMiddleware": 850,  # responses, first: a redirect is an entry of its own
    "crawler.scheduler.gate.PolitenessGate": 950,  # requests, last: nothing leaves without a turn at its host
}
"""What must be there, in this order."""

DOWNLOADER_MIDDLEWARES: dict[str, int] = {
    **COMPLIANCE,
    f"{_SCRAPY}.downloadtimeout.DownloadTimeoutMiddleware": 350,  # DOWNLOAD_TIMEOUT, connect to last byte
    f"{_SCRAPY}.defaultheaders.DefaultHeadersMiddleware": 400,  # Accept, Accept-Language
    f"{_SCRAPY}.stats.DownloaderStats": 900,  # counts
}

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

DOWNLOAD_HANDLERS: dict[str, str | None] = {
    "http": f"{_HERE}.handler.GuardedDownloadHandler",
    "https": f"{_HERE}.handler.GuardedDownloadHandler",
    **dict.fromkeys(("data", "file", "ftp", "s3")),
}

REQUIRED: dict[str, Any] = {
    "TWISTED_DNS_RESOLVER": f"{_HERE}.resolver.GuardedResolver",
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

SETTINGS: dict[str, Any] = {
    **REQUIRED,
    "DOWNLOADER_MIDDLEWARES_BASE": {},  # Scrapy's defaults: the wanted ones stand in the table above
    "DOWNLOAD_HANDLERS": DOWNLOAD_HANDLERS,
    "ROBOTSTXT_OBEY": True,  # says what is so; Scrapy's own middleware is replaced by ours
    "DNS_TIMEOUT": 10,  # seconds
    "DOWNLOAD_TIMEOUT": 30,  # seconds, one request from connect to last byte
    "DOWNLOAD_MAXSIZE": 10 * 2**20,  # bytes, on the wire and after decompression
    "DOWNLOAD_WARNSIZE": 0,
    "REACTOR_THREADPOOL_MAXSIZE": 20,  # name look-ups
    "DEFAULT_REQUEST_HEADERS": {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8"},
}
"""Everything `settings.py` takes over from here."""
