"""The console of `gristmill shell`: Scrapy's, with a `fetch` that goes through guard and policy and says why not."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, Spider
from scrapy.shell import Shell
from scrapy.utils.defer import deferred_f_from_coro_f
from twisted.internet import threads

from crawler.launch import check_identity
from crawler.problems import InputError
from crawler.spiders.single_page import ASIDE, RefusedPageError, ask

if TYPE_CHECKING:
    from scrapy.http import Response


class ShellSpider(Spider):
    """What the engine needs to run; it sends nothing by itself."""

    name = "shell"
    custom_settings: dict[Any, Any] | None = ASIDE


class PageShell(Shell):
    """`response` is what the latest `fetch` brought, None where the page may not be fetched."""

    response: Response | None = None

    def begin(self) -> None:
        """The console, or the code of `-c`; what was fetched before is there."""
        self.start(response=self.response, spider=self.spider)

    def fetch(
        self,
        request_or_url: Request | str,
        spider: Spider | None = None,  # noqa: ARG002  # Scrapy's signature
        redirect: bool = True,
        **kwargs: Any,
    ) -> None:
        """Ask, wait, and fill the variables. Ctrl-C gives the wait up."""
        self.response, request = None, None
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            request = request_or_url if isinstance(request_or_url, Request) else _request(request_or_url, kwargs)
            check_identity(self.crawler.settings, [request.url])
            self.response = self._wait_for(request, redirect)
        except (RefusedPageError, InputError, ValueError) as error:
            sys.stderr.write(f"error: {error}\n")
        finally:
            signal.signal(signal.SIGINT, handler)
        self.populate_vars(self.response, request, self.spider)

    def _wait_for(self, request: Request, follow: bool) -> Response:
        from twisted.internet import reactor

        async def asked() -> Response:
            if not self.spider:
                await self._open_spider(None)
            return await ask(self.crawler, request, follow=follow)

        waited: Any = threads.blockingCallFromThread(reactor, cast("Any", deferred_f_from_coro_f(asked)))
        return cast("Response", waited)


def _request(url: str, facts: dict[str, Any]) -> Request:
    """A request for this very spelling."""
    return Request(url, **(facts | {"meta": {"verbatim_url": True} | (facts.get("meta") or {})}))
