"""Every request leaves through a proxy of EGRESS_PROXIES, or not at all.

What a proxy does wrong is no site's failure: the request goes back into its queue, and its site through another proxy,
or it waits. What a site says or does (a status, a refused connection, a certificate) never changes the proxy.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from twisted.internet.error import DNSLookupError

from crawler.downloader.certificates import certificate_problem
from crawler.downloader.proxies import Blame, NoTunnelError, Proxy, proxies_of
from crawler.downloader.proxy_health import ProxyHealth
from crawler.downloader.proxy_probe import trouble_of, unreached
from crawler.downloader.reach import OUTAGE_SECONDS, Whose
from crawler.downloader.resolver import FOUND_SECONDS, resolved
from crawler.downloader.tunnel import SiteAddress, Tunnel, connected
from crawler.frontier.proxies import SAID_EVERY, ProxyWord, say_of_proxies
from crawler.problems import InputError
from crawler.runtime import config_of, per_crawler
from crawler.scheduler.scheduler import frontier_of, has_frontier
from crawler.scheduler.stopping import stop_crawl
from crawler.scheduler.turned_away import PutBack
from crawler.server.errors import FrontierError
from crawler.statkeys import EGRESS
from crawler.urls.canonicalize import politeness_scope

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

log = logging.getLogger(__name__)

THROUGH = "egress_proxy"
"""Key in `request.meta`: the proxy through which the request was written."""
_PAUSE = 1.0  # seconds until a request is tried again that a proxy's trouble sent back
_SHARE = 0.2  # of DOWNLOAD_TIMEOUT, for each answer of a proxy
_MOST_ADDRESSES = 2  # of a site, tried one after the other
_MAYBE_THE_PROXY = (DownloadFailedError, DownloadTimeoutError, ResponseDataLossError)


class NoProxyError(Exception):
    """All proxies are away: nothing leaves."""


class NotReachedError(DownloadFailedError):
    """A proxy says that the site is not reached; or says nothing, though it was asked (`is_silent`)."""

    def __init__(self, error: NoTunnelError, proxy: Proxy, port: int) -> None:
        super().__init__(str(error))
        self.proxy, self.port, self.is_silent = proxy, port, error.is_silent


class Egress:
    """The proxies of one worker. `stop` ends the crawl with a sentence; `count` adds one to a counter."""

    def __init__(
        self,
        proxies: list[Proxy],
        *,
        timeout: float,
        stop: Callable[[str], None],
        count: Callable[[str], None],
        say: Callable[[Mapping[str, ProxyWord]], Awaitable[None]] | None = None,
        unusable: str = "",
    ) -> None:
        self.proxies, self._stop, self._count, self._unusable = proxies, stop, count, unusable
        self._say, self._said_at = say, 0.0
        self._saying: asyncio.Future[None] | None = None  # held here, or it would be collected
        self._words = {proxy.name: ProxyWord(0, 0, False) for proxy in proxies}
        self.health = ProxyHealth(proxies)
        self._seconds = timeout * _SHARE
        self._places: dict[str, tuple[float, list[str]]] = {}  # host of a proxy → until when, addresses
        self._latest, self._said = "", False
        self._asked: dict[str, asyncio.Future[str | None]] = {}  # host:port → what a proxy says now

    def proxy_for(self, host: str) -> Proxy:
        """Through which the host is asked now. Raises: NoProxyError."""
        if self._unusable:
            raise NoProxyError(self._unusable)
        proxy = self.health.of(site_of(host))
        if proxy is None:
            raise NoProxyError(f"no proxy of EGRESS_PROXIES serves ({self._latest})")
        return proxy

    async def connect(self, proxy: Proxy, host: str, port: int, bind: Any, factory: Any) -> Any:
        """What `factory` makes, in a tunnel to the host.

        Raises: NoTunnelError where it is the proxy's trouble; NotReachedError, DNSLookupError, what `factory` raises.
        """
        addresses = await resolved(host)
        if not addresses:
            raise DNSLookupError(f"no results for hostname lookup: {host}")
        for address in addresses[:_MOST_ADDRESSES]:
            try:
                return await self._connect_to(proxy, SiteAddress(address, port, proxy), host, bind, factory)
            except NoTunnelError as error:
                if error.blame is Blame.PROXY:
                    raise
                latest = error
        if latest.blame is Blame.SITE:
            self.health.served(proxy, port)  # who says so reaches others
            raise DownloadConnectionRefusedError(str(latest)) from latest
        raise NotReachedError(latest, proxy, port) from latest

    async def _connect_to(self, proxy: Proxy, site: SiteAddress, host: str, bind: Any, factory: Any) -> Any:
        from twisted.internet import reactor

        def ended(tunnel: Tunnel, by_us: bool) -> None:
            self.health.closed(proxy, tunnel, by_us=by_us)

        latest: NoTunnelError | None = None
        for place in await self._addresses_of(proxy):
            tunnel = Tunnel(site, factory, ended)
            try:
                inner = await connected(reactor, place, tunnel, self._seconds, bind)
            except NoTunnelError as error:
                if error.blame is not Blame.PROXY:
                    raise
                latest = error
                continue
            self._said = False
            self.health.served(proxy, site.port)
            self._counted(proxy, "tunnels")
            self.health.opened(proxy, tunnel, site_of(host))
            return inner
        assert latest is not None
        raise latest

    async def _addresses_of(self, proxy: Proxy) -> list[str]:
        """Of the proxy itself, which may be in a network that is closed to the crawl. Raises: NoTunnelError."""
        host = proxy.address.host
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            pass
        until, found = self._places.get(host, (0.0, []))
        if until <= time.monotonic():
            try:
                async with asyncio.timeout(self._seconds):
                    answer = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
            except OSError as error:
                raise NoTunnelError(unreached(proxy, error), Blame.PROXY) from error
            found = list(dict.fromkeys(str(entry[4][0]) for entry in answer))
            self._places[host] = time.monotonic() + FOUND_SECONDS, found
        return found

    def failed(self, proxy: Proxy, sentence: str) -> None:
        """It does not serve: its sites go elsewhere until it does."""
        self._places.pop(proxy.address.host, None)
        self._latest = sentence
        if self.health.failed(proxy, sentence):
            self._counted(proxy, "failures")

    def written(self, request: Request, proxy: Proxy | None) -> None:
        """The request goes out on a connection of this proxy."""
        if proxy is not None:
            request.meta[THROUGH] = proxy
            self._counted(proxy, "requests")

    async def look_at(self, error: Exception, request: Request) -> None:
        """Raises: PutBack where the failure is a proxy's, or may be."""
        proxy, site = request.meta.pop(THROUGH, None), site_of(urlsplit(request.url).hostname or "")
        if isinstance(error, NoProxyError):
            if self._unusable or self.health.none_for() >= OUTAGE_SECONDS:
                self._stop(f"{error}; check them, then run the same command again")
            elif not self._said:
                self._said = True
                log.warning("%s; no request is sent until one serves again", error)
            raise PutBack(time.time() + _PAUSE) from error
        if isinstance(error, NotReachedError):
            await self._look_at_unreached(error, site)
        elif isinstance(error, DownloadTimeoutError) and proxy is None:
            raise PutBack(time.time() + _PAUSE) from error  # no tunnel was there in time, by whichever proxy
        elif isinstance(proxy, Proxy) and isinstance(error, _MAYBE_THE_PROXY) and not certificate_problem(error):
            await self._look_at_loss(error, proxy, site)

    async def _look_at_unreached(self, error: NotReachedError, site: str) -> None:
        self._counted(error.proxy, "unreached")
        trouble = await self._trouble_of(error.proxy) if error.is_silent else None
        whose = Whose.OURS if trouble else self.health.missed(error.proxy, error.port, site)
        if whose is Whose.THEIRS:
            return
        if whose is Whose.OURS:
            self.failed(error.proxy, trouble or str(error))
        raise PutBack(time.time() + _PAUSE) from error

    async def _trouble_of(self, proxy: Proxy) -> str | None:
        """As `trouble_of`, asked from now on, and once for all who want to know."""
        if (asked := self._asked.get(proxy.name)) is not None and (said := await asyncio.shield(asked)):
            return said  # a proxy that was there before may have gone since
        if proxy.name not in self._asked:
            asked = self._asked[proxy.name] = asyncio.ensure_future(asyncio.to_thread(trouble_of, proxy))
            asked.add_done_callback(lambda _: self._asked.pop(proxy.name, None))
        return await asyncio.shield(self._asked[proxy.name])

    async def _look_at_loss(self, error: Exception, proxy: Proxy, site: str) -> None:
        """A request was under way: was it the proxy that broke off?"""
        trouble = None if self.health.is_away(proxy) else await self._trouble_of(proxy)
        if trouble is not None:
            self.failed(proxy, trouble)
        if trouble is not None or self.health.is_away(proxy) or self.health.lost_together(proxy, site):
            self._counted(proxy, "broken_off")
            raise PutBack(time.time() + _PAUSE) from error

    def _counted(self, proxy: Proxy, what: str) -> None:
        self._count(f"{EGRESS}/{proxy.name}/{what}")
        word, is_away = self._words[proxy.name], self.health.is_away(proxy)
        told = ProxyWord(word.requests + (what == "requests"), word.failures + (what == "failures"), is_away)
        self._words[proxy.name] = told
        if self._say is not None and (word.away != is_away or time.monotonic() - self._said_at >= SAID_EVERY):
            self._said_at = time.monotonic()
            self._saying = asyncio.ensure_future(self._say(self._words))


async def _say(crawler: Crawler, words: Mapping[str, ProxyWord]) -> None:
    scheduler = frontier_of(crawler)
    if scheduler is not None and scheduler.is_open:
        with suppress(FrontierError):  # a word for people: who uses the frontier says what is wrong with it
            await say_of_proxies(scheduler.shared, config_of(crawler).crawl.worker_id, words)


def site_of(host: str) -> str:
    """What has one proxy: the registrable domain, or the address."""
    try:
        return politeness_scope(f"http://[{host}]/" if ":" in host else f"http://{host}/", "domain")
    except ValueError:
        return host.lower()


@per_crawler
def egress_of(crawler: Crawler) -> Egress | None:
    """The crawl's way out; None where requests leave directly."""
    config = config_of(crawler)
    if not config.policy.egress_proxies:
        return None
    assert crawler.stats is not None
    make = partial(
        Egress,
        timeout=config.policy.download_timeout_seconds,
        stop=partial(stop_crawl, crawler),
        count=crawler.stats.inc_value,
        say=partial(_say, crawler) if has_frontier(crawler) else None,
    )
    try:
        return make(proxies_of(config))
    except InputError as error:  # the start of a crawl has said so; other commands have not
        return make([], unusable="; ".join(error.problems))
