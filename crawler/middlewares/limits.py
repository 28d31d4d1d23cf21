"""Only text is read, and only up to the size limits, also after decompression.

Scrapy's handler enforces DOWNLOAD_MAXSIZE on the bytes of the wire and DOWNLOAD_TIMEOUT on the whole exchange; this
module bounds what the bytes become, and stops bodies that no stage could read before they are fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response

from crawler.document import Drop, DropReason
from crawler.downloader import codings
from crawler.downloader.private import Decompression
from crawler.middlewares._meta import CONTROL_FILE, header_lines, is_control_file, is_page, is_sitemap
from crawler.middlewares.outcomes import Denied
from crawler.policy.headers import escaped
from crawler.policy.robots.parse import MAX_BYTES
from crawler.wire.codings import CodingError, content_codings
from crawler.wire.media import content_type, is_binary, may_be_read, media_type

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

CONTROL_FILE_BYTES = MAX_BYTES + 16_384
"""Read of a control file at most; more than is parsed, so that parsing can cut at a line end."""
MAX_PLAIN_CONTROL_FILE = 10 * 2**20
"""Bytes of a control file after decompression."""
MAX_SITEMAP = 50 * 2**20
"""Bytes of a sitemap, on the wire and after decompression (sitemaps.org)."""


class LimitsMiddleware:
    """Refuses content types that are not text, on the headers; cuts control files where nobody reads on."""

    def __init__(self, scope: Callable[[], Any] = lambda: None) -> None:
        self._scope = scope

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for headers and bytes."""
        middleware = cls(lambda: getattr(crawler.spider, "scope", None))
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        crawler.signals.connect(middleware.bytes_received, signals.bytes_received)
        return middleware

    def process_request(self, request: Request) -> None:
        """A sitemap may be larger than a page."""
        if is_sitemap(request):
            request.meta.setdefault("download_maxsize", MAX_SITEMAP)

    def _reads(self, request: Request, declared: str) -> bool:
        """JSON is read where it is a record of a source (`-a api=FILE`), and nowhere else."""
        if may_be_read(declared):
            return True
        scope, name = self._scope(), getattr(request.meta.get("lease"), "url", request.url)
        is_json = media_type(declared).essence.endswith("json")
        return is_json and scope is not None and bool(scope.fields_of(name))

    def headers_received(self, headers: Headers, request: Request, **_: Any) -> None:
        """Raises: StopDownload where the body could not be used."""
        if is_page(request) and not self._reads(request, content_type(header_lines(headers))):
            raise StopDownload(fail=False)

    def bytes_received(self, data: bytes, request: Request, **_: Any) -> None:
        """Raises: StopDownload where a control file has been read as far as it is going to be parsed."""
        if not request.meta.get(CONTROL_FILE):
            return
        received = request.meta.get("received_bytes", 0) + len(data)
        request.meta["received_bytes"] = received
        if received > CONTROL_FILE_BYTES:
            raise StopDownload(fail=False)

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises: Denied for a content type that no stage reads, or a body that was cut."""
        kind = content_type(header_lines(response.headers))
        if is_page(request) and not self._reads(request, kind):
            raise Denied(Drop("fetch", DropReason.NOT_TEXT, escaped(kind, 100)))
        if "download_stopped" in response.flags and not is_control_file(request):
            raise Denied(Drop("fetch", DropReason.DOWNLOAD_FAILED, "the download was stopped before its end"))
        return response


class DecompressionMiddleware(Decompression):
    """Scrapy's decompression with its failures as outcomes: too large, broken, or in a coding nobody knows."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Never switched off: a body that stays compressed would be taken for text."""
        return cls(crawler=crawler)

    def process_response(self, request: Request, response: Response, spider: Any = None) -> Response:  # noqa: ARG002
        """Raises: Denied."""
        if is_control_file(request):
            request.meta["download_maxsize"] = MAX_PLAIN_CONTROL_FILE
        values: list[bytes] = response.headers.getlist("Content-Encoding")
        try:
            if not content_codings(value.decode("latin-1") for value in values):
                return response if is_sitemap(request) else _as_it_came(response, b",".join(values))
            plain = super().process_response(request, response)
        except IgnoreRequest as error:
            raise Denied(Drop("fetch", DropReason.TOO_LARGE, "larger than allowed when decompressed")) from error
        except CodingError as error:
            raise _undecodable(escaped(str(error), 100)) from error
        except Exception as error:  # each codec has errors of its own
            raise _undecodable(f"content coding: {type(error).__name__}") from error
        assert isinstance(plain, Response)
        return plain

    def decode(self, body: bytes, coding: bytes, limit: int) -> bytes:
        """Complete to its end, or an error: half a page is no page."""
        return codings.decode(body, coding, limit)


def _as_it_came(response: Response, named: bytes) -> Response:
    """Raises: CodingError where a coding that nobody knows has been at work."""
    if named.strip() and is_binary(response.body):
        raise CodingError(f"unknown content coding {named[:50].decode('latin-1')}")
    return response


def _undecodable(detail: str) -> Denied:
    return Denied(Drop("fetch", DropReason.UNDECODABLE, detail))
