"""What a page in the browser asks for is fetched by the crawler itself, through the same downloader as every page.

So the network guard (also on the connected address), robots.txt, the host's turn, the identity, the limits and
withdrawn domains hold for it by construction, and the browser needs no network. Data may become the text of the page:
opt-outs hold for them as for a page. Scripts are kept for the other pages of the crawl, which saves the site most
requests.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from crawler.browser.capture import capture_of
from crawler.document import Capture, DropReason
from crawler.middlewares._meta import DATA, SUBRESOURCE, evidence_of, header_lines
from crawler.middlewares.outcomes import Denied, Held
from crawler.middlewares.redirect import location_of, target_of
from crawler.policy.decide import decide_unread
from crawler.policy.status import DENIALS, REDIRECTS

if TYPE_CHECKING:
    from scrapy.http import Response

MAX_HOPS = 5
KEPT_BYTES = 32 * 2**20
"""Scripts that a worker keeps."""
_DROPPED = frozenset({b"content-encoding", b"content-length", b"transfer-encoding", b"set-cookie", b"connection"})


class RefusedError(Exception):
    """A request of a page is not answered; `name` is what it is counted under."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer as the browser gets it: without content coding, without cookies."""

    status: int
    headers: dict[str, str]
    body: bytes
    capture: Capture | None = None


class PageFetcher:
    """`download` sends one request through all downloader middlewares.

    timeout: seconds; max_bytes: of one answer; profile: OPTOUT_PROFILE.
    """

    def __init__(
        self, download: Callable[[Request], Awaitable[Response]], timeout: float, max_bytes: int, profile: str
    ) -> None:
        self._download, self._profile = download, profile
        self._meta = {SUBRESOURCE: True, "download_timeout": timeout, "download_maxsize": max_bytes}
        self._kept: OrderedDict[str, Fetched] = OrderedDict()
        self._bytes = 0
        self._flights: dict[str, asyncio.Future[Fetched]] = {}

    async def get(self, url: str, kind: str, headers: dict[str, str], *, captured: bool = False) -> Fetched:
        """The answer to a GET, redirects followed; `captured`: with its exchange.

        Raises: RefusedError.
        """
        if kind != "script":
            return await self._ask(url, headers, self._meta | {DATA: True}, captured=captured)
        if kept := self._kept.get(url):
            self._kept.move_to_end(url)
            return kept
        flight = self._flights.get(url)
        if flight is None:
            flight = self._flights[url] = asyncio.ensure_future(self._script(url, headers))
            flight.add_done_callback(lambda done: self._landed(url, done))
        return await asyncio.shield(flight)  # a page that is given up does not take it from the others

    async def _script(self, url: str, headers: dict[str, str]) -> Fetched:
        found = await self._ask(url, headers, self._meta)
        if found.status == 200:
            self._keep(url, found)
        return found

    def _landed(self, url: str, done: asyncio.Future[Fetched]) -> None:
        self._flights.pop(url, None)
        if not done.cancelled():
            done.exception()  # seen, also where the page that asked is gone

    async def _ask(self, url: str, headers: dict[str, str], meta: dict[str, Any], *, captured: bool = False) -> Fetched:
        for _ in range(MAX_HOPS + 1):
            request = Request(url, headers=headers, callback=NO_CALLBACK, dont_filter=True, meta=dict(meta))
            response = await self._answer(request)
            if response.status not in REDIRECTS or not location_of(response):
                capture = capture_of(request, response) if captured else None
                if capture is None and DATA in meta and decide_unread(evidence_of(request).signals, self._profile, url):
                    raise RefusedError(DropReason.OPTOUT.value)  # only an HTML page could lift it
                body = b"" if response.status in DENIALS else response.body  # of a denied page no text is kept, either
                return Fetched(response.status, plain_headers(header_lines(response.headers)), body, capture)
            if (target := target_of(response)) is None:
                break
            url = target
        raise RefusedError("redirects")

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._download(request)
        except Denied as refused:
            forbidden = refused.drop.reason is DropReason.NETWORK_FORBIDDEN
            raise RefusedError("forbidden" if forbidden else refused.drop.reason.value) from refused
        except Held as error:
            raise RefusedError(error.drop.reason.value) from error
        except IgnoreRequest as error:
            raise RefusedError("turn") from error  # the host is paused, or its turn is too far away
        except Exception as error:
            raise RefusedError("failed") from error

    def _keep(self, url: str, found: Fetched) -> None:
        self._kept[url] = found
        self._bytes += len(found.body)
        while self._bytes > KEPT_BYTES:
            self._bytes -= len(self._kept.popitem(last=False)[1].body)


def plain_headers(lines: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Response headers as the browser takes them, lower case, repeated ones joined."""
    found: dict[str, str] = {}
    for name, value in lines:
        if name.lower() not in _DROPPED:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def download_of(crawler: Any) -> Callable[[Request], Awaitable[Response]]:
    """The running engine's own way out; there is one when pages come."""

    async def download(request: Request) -> Response:
        response: Response = await crawler.engine.download_async(request)
        return response

    return download
