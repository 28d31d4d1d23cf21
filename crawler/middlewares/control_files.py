"""Control files such as robots.txt are fetched once for all workers and cached for as long as they say.

A fetch goes through the same downloader, guard and resolver as a page, waits for the host's turn, and follows up to
five redirects hop by hop. The answer is judged by `crawler.policy.robots.answer` and shared through the frontier.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from crawler.document import DropReason
from crawler.downloader.certificates import certificate_problem
from crawler.frontier.again import DISTRUST
from crawler.middlewares._meta import CONTROL_FILE, header_lines
from crawler.middlewares.outcomes import Denied
from crawler.middlewares.redirect import target_of
from crawler.middlewares.retry import describe
from crawler.policy.robots import answer as robots_fetch
from crawler.policy.robots.answer import Ages, Answer, Reader, Reading, RobotsRecord
from crawler.policy.status import REDIRECTS

T = TypeVar("T")

MAX_HOPS = 5
"""Redirects followed for a control file (RFC 9309 section 2.3.1.2)."""
MAX_PARSED = 1_000
MAX_PARSED_BYTES = 8 * 2**20
"""Parsed files of one kind kept in this worker, by number and by the bytes they were parsed from."""
_BEHIND_HOST = re.compile(r"(?<=://)[^/?]*([/?].*)", re.DOTALL)
_THREAD_FROM_BYTES = 65_536
"""Larger files are parsed in a thread: parsing 500 KiB would hold the reactor for too long."""


class SharedStore(Protocol):
    """What the frontier offers to all workers of a crawl (`crawler.frontier.shared`)."""

    async def get_blob(self, name: str) -> bytes | None:
        """The stored bytes; None where absent or too old."""

    async def put_blob(self, name: str, value: bytes, ttl: float) -> None:
        """Store bytes for `ttl` seconds."""

    def single_flight(self, name: str, ttl: float = 60.0) -> AbstractAsyncContextManager[bool]:
        """True for one caller at a time among all workers; the others wait for it."""


class Gate(Protocol):
    """What the scheduler offers: the host's turn, and the store."""

    @property
    def shared(self) -> SharedStore:
        """The shared store."""

    async def wait_turn(self, url: str) -> None:
        """Wait until one request may be sent to this URL's host."""


@dataclass(frozen=True, slots=True)
class FileKind(Generic[T]):
    """One kind of control file: its name in the store, how answers are read, and what parses the body."""

    name: str
    read: Reader
    parse: Callable[[bytes], T]


class ControlFiles(Generic[T]):
    """Files of one kind by URL: from memory, from the shared store, or from the host.

    `gate` gives the scheduler once it exists, `download` sends one request through all downloader middlewares.
    """

    def __init__(
        self,
        kind: FileKind[T],
        gate: Callable[[], Gate],
        download: Callable[[Request], Any],
        ages: Ages,
        *,
        timeout: float = 30.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._kind = kind
        self._gate = gate
        self._download = download
        self._ages = ages
        self._timeout = timeout
        self._clock = clock
        self._known: OrderedDict[str, tuple[RobotsRecord, T | None]] = OrderedDict()
        self._bytes = 0
        self._flights: dict[str, asyncio.Future[tuple[RobotsRecord, T | None]]] = {}

    @property
    def name(self) -> str:
        """Of the kind of file."""
        return self._kind.name

    async def get(self, url: str) -> tuple[RobotsRecord, T | None]:
        """The record and its parsed body (None where it has none).

        Raises: Denied or Held where the network guard refuses the host; nothing is stored then.
        """
        known = self._known.get(url)
        if known and await self._is_current(known[0]):
            return known
        flight = self._flights.get(url)
        if flight is None:
            flight = self._flights[url] = asyncio.ensure_future(self._find(url))
            flight.add_done_callback(lambda _: self._flights.pop(url, None))
        return await asyncio.shield(flight)

    async def _find(self, url: str) -> tuple[RobotsRecord, T | None]:
        record = await self._shared(url)
        while record is None or not await self._is_current(record):
            async with self._gate().shared.single_flight(self._key(url), self._flight_seconds()) as first:
                previous = await self._shared(url)
                if previous is not None and await self._is_current(previous):
                    record = previous
                elif first:
                    record = await self._fetch(url, previous)
        parsed = await self._parse(record) if record.reading is Reading.RULES else None
        self._remember(url, record, parsed)
        return record, parsed

    async def _is_current(self, record: RobotsRecord) -> bool:
        """Whether nobody need ask again: a failure of an earlier run is asked for once more (`frontier.again`)."""
        if record.expires_at <= self._clock():
            return False
        if not record.has_failed:
            return True
        since = await self._gate().shared.get_blob(DISTRUST)
        return since is None or record.fetched_at >= float(since)

    def _remember(self, url: str, record: RobotsRecord, parsed: T | None) -> None:
        if replaced := self._known.pop(url, None):
            self._bytes -= len(replaced[0].body)
        self._known[url] = record, parsed
        self._bytes += len(record.body)
        while len(self._known) > MAX_PARSED or (self._bytes > MAX_PARSED_BYTES and len(self._known) > 1):
            _, (forgotten, _) = self._known.popitem(last=False)
            self._bytes -= len(forgotten.body)

    def _key(self, url: str) -> str:
        return f"{self._kind.name}:{url}"

    def _flight_seconds(self) -> float:
        return (self._timeout + 60.0) * (MAX_HOPS + 1)

    async def _shared(self, url: str) -> RobotsRecord | None:
        blob = await self._gate().shared.get_blob(self._key(url))
        return None if blob is None else robots_fetch.load(blob)

    async def _parse(self, record: RobotsRecord) -> T:
        if len(record.body) < _THREAD_FROM_BYTES:
            return self._kind.parse(record.body)
        return await asyncio.to_thread(self._kind.parse, record.body)

    async def _fetch(self, url: str, previous: RobotsRecord | None) -> RobotsRecord:
        answer = await self._ask(url)
        if answer.status is None:  # no response at all: a lost packet is no reason to leave a host alone for an hour
            answer = await self._ask(url)
        now = self._clock()
        record = robots_fetch.judge(answer, now, self._ages, previous, self._kind.read)
        await self._gate().shared.put_blob(self._key(url), record.dump(), record.keep_until() - now)
        return record

    async def _ask(self, url: str) -> Answer:
        seen = {url}
        for _ in range(MAX_HOPS + 1):
            try:
                await self._gate().wait_turn(url)
            except ValueError as error:  # named by the host: no http(s) URL, nobody's turn
                return Answer(error=describe(error))
            try:
                response = await self._download(self._request(url))
            except Denied as refusal:
                if len(seen) == 1 and refusal.drop.reason is DropReason.NETWORK_FORBIDDEN:
                    raise  # the host itself is forbidden: that is the page's outcome
                return Answer(error=describe(refusal))
            except IgnoreRequest:
                raise  # held, or put back by the politeness gate: nothing was learned about robots.txt
            except Exception as error:  # whatever went wrong, the file could not be read
                return Answer(error=describe(error), is_certificate=bool(certificate_problem(error)))
            target = target_of(response) if response.status in REDIRECTS else None
            if target is None:
                return _answer(response, is_redirected=len(seen) > 1)
            if target in seen:
                return Answer(response.status, error="redirect loop")
            seen.add(target)
            url = target
        return Answer(response.status, error=f"more than {MAX_HOPS} redirects")

    def _request(self, url: str) -> Request:
        meta = {CONTROL_FILE: True, "download_timeout": self._timeout, "download_maxsize": 0}
        return Request(url, callback=NO_CALLBACK, dont_filter=True, meta=meta)


def authority_of(url: str) -> str:
    """scheme://host:port of a URL, the key under which its robots.txt is kept."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def path_of(url: str) -> str:
    """Path and query of a URL, as rules are matched against it: just what is requested, an empty query included."""
    found = _BEHIND_HOST.search(url.partition("#")[0])
    path = found[1] if found else ""
    return path if path.startswith("/") else f"/{path}"


def _answer(response: Response, *, is_redirected: bool) -> Answer:
    lines = tuple(header_lines(response.headers))
    return Answer(response.status, response.body, lines, is_redirected=is_redirected)
