"""What a request to a source of JSON says beside what every request says; it is put on behind the politeness gate.

It asks for JSON, and carries the key where the source has one: to the host of its lists and no other, by https or on
this machine. The key is taken off again before anybody else sees the request, answered or not: no log, record or
archive has it. A server that repeats it (in a header, a body, a redirect, a broken status line) has it painted over by
as many other signs before anything reads the answer.
"""

from __future__ import annotations

import html
import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from crawler.frontier.model import Lease
from crawler.middlewares._meta import header_lines
from crawler.policy.headers import shown_url
from crawler.scheduler.stopping import stop_crawl
from crawler.scheduler.turned_away import PutBack
from crawler.seeds.api import CredentialError
from crawler.seeds.scope import Scope
from crawler.statkeys import KEYS_REPEATED

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

_HEADER = "credential_header"
"""Key in `Request.meta`: the header that has the key, while the request is under way."""
_ECHO = "credential_echo"
"""Key in `Request.meta`: what finds the key in the answer (`echo_of`), until that has been read."""
_PAINT = b"KEY-REMOVED-"


class SourceMiddleware:
    """Puts Accept and the credential of a source (`-a api=FILE`) on the requests for its lists and records."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The sources are those of the spider's scope; a spider without one has none."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raises: PutBack where the key cannot be read; the crawl then stops with a sentence, and nothing is lost."""
        lease, scope = request.meta.get("lease"), getattr(self._crawler.spider, "scope", None)
        if not isinstance(lease, Lease) or not isinstance(scope, Scope):
            return
        source = scope.source_of(lease.url, lease.kind)
        if source is None:
            return
        request.headers["Accept"] = source.accept
        if source.credential and source.takes_key(request.url):
            try:
                value = source.credential.value()
            except CredentialError as error:
                stop_crawl(self._crawler, str(error))
                raise PutBack(0.0) from error
            request.headers[source.credential.header] = value
            request.meta[_HEADER] = source.credential.header
            request.meta[_ECHO] = echo_of(value.rpartition(" ")[2])

    def process_response(self, request: Request, response: Response) -> Response:
        """Take the key off, and out of the headers of the answer."""
        self._take_off(request)
        clean = lines_of(request, response.headers)
        if clean == header_lines(response.headers):
            return response
        _tell(self._crawler, response.url)
        named: dict[bytes, list[bytes]] = {}
        for name, value in clean:
            named.setdefault(name, []).append(value)
        return response.replace(headers=named)

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002  # Scrapy's form
        """Take the key off."""
        self._take_off(request)

    def _take_off(self, request: Request) -> None:
        if header := request.meta.pop(_HEADER, None):
            request.headers.pop(header, None)


class EchoMiddleware:
    """Paints a key over that a body repeats, once the body is decompressed."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Needs no settings."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Answers the same response where the key is not in it."""
        echo = request.meta.pop(_ECHO, None)
        if echo is None or echo.search(response.body) is None:
            return response
        _tell(self._crawler, response.url)
        return response.replace(body=echo.sub(_painted, response.body))


def lines_of(request: Request, headers: dict[bytes, list[bytes]]) -> list[tuple[bytes, bytes]]:
    """The lines of an answer's headers, without the key that its request carried."""
    echo = request.meta.get(_ECHO)
    return [(name, echo.sub(_painted, value) if echo else value) for name, value in header_lines(headers)]


def without_key(request: Request, text: str) -> str:
    """What is said of a request that failed, without the key that it carried."""
    echo = request.meta.pop(_ECHO, None)
    return text if echo is None else echo.sub(_painted, text.encode()).decode()


@lru_cache(maxsize=16)
def echo_of(key: str) -> re.Pattern[bytes]:
    """What finds a key, each sign as it is, percent-encoded (RFC 3986) or escaped for JSON (RFC 8259) or HTML.

    What says it in another way (base64, a hash) is not found.
    """
    return re.compile("".join(map(_spellings, key)).encode())


def _spellings(sign: str) -> str:
    number = ord(sign)
    digits = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{number:02x}")
    ways = [rf"\\?{re.escape(sign)}", f"%{digits}", rf"\\u00{digits}", f"&#0*{number};", f"&#[xX]0*{digits};"]
    ways += [re.escape(named)] if (named := html.escape(sign)) != sign else []
    return f"(?:{'|'.join(ways)})"


def _painted(found: re.Match[bytes]) -> bytes:
    """As many signs, so that a Content-Length stays true."""
    size = len(found[0])
    return (_PAINT * (size // len(_PAINT) + 1))[:size]


def _tell(crawler: Crawler, url: str) -> None:
    assert crawler.stats is not None
    crawler.stats.inc_value(KEYS_REPEATED)
    if crawler.stats.get_value(KEYS_REPEATED) == 1:
        logger.warning("%s repeats the key that it was sent: painted over there, in the archive, too", shown_url(url))
