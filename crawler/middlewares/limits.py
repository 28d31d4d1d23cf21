"""Only text and documents are read, and only up to the size limits, also after decompression.

Scrapy's handler enforces DOWNLOAD_MAXSIZE on the bytes of the wire and DOWNLOAD_TIMEOUT on the whole exchange; this
module bounds what the bytes become, and stops bodies that no stage could read before they are fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response

from crawler.config import DocumentsConfig
from crawler.document import Drop, DropReason
from crawler.downloader import codings
from crawler.downloader.private import Decompression
from crawler.middlewares._meta import CONTROL_FILE, header_lines, is_control_file, is_page, is_sitemap
from crawler.middlewares.outcomes import Denied
from crawler.policy.headers import escaped
from crawler.policy.robots.parse import MAX_BYTES
from crawler.runtime import config_of
from crawler.wire.codings import CodingError, content_codings
from crawler.wire.files import ENOUGH, begins_as_file, declared_kind, may_be_file
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

_LARGER, _UNSURE = "document_maxsize", "may_be_document"
"""Keys of `Request.meta`: its answer may be larger than a page; its first bytes say whether it is a document at all."""


class LimitsMiddleware:
    """Refuses content types that are not text, on the headers; cuts control files where nobody reads on."""

    def __init__(self, scope: Callable[[], Any] = lambda: None, documents: DocumentsConfig | None = None) -> None:
        self._scope = scope
        self._documents = documents or DocumentsConfig()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for headers and bytes."""
        middleware = cls(lambda: getattr(crawler.spider, "scope", None), config_of(crawler).documents)
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        crawler.signals.connect(middleware.bytes_received, signals.bytes_received)
        return middleware

    def process_request(self, request: Request) -> None:
        """A sitemap may be larger than a page."""
        if is_sitemap(request):
            request.meta.setdefault("download_maxsize", MAX_SITEMAP)

    def _reads(self, request: Request, declared: str) -> bool:
        """JSON is read where it is a record of a source (`-a api=FILE`), and nowhere else."""
        if may_be_read(declared) or self._may_be_document(declared):
            return True
        scope, name = self._scope(), getattr(request.meta.get("lease"), "url", request.url)
        is_json = media_type(declared).essence.endswith("json")
        return is_json and scope is not None and bool(scope.fields_of(name))

    def _may_be_document(self, declared: str) -> bool:
        """True for the declared type of a file that is read here, and for one that says nothing of its kind."""
        if (kind := declared_kind(declared)) is not None:
            return self._documents.reads(kind)
        return may_be_file(declared) and any(map(self._documents.reads, self._documents.kinds))

    def headers_received(self, headers: Headers, request: Request, **_: Any) -> None:
        """A document may be larger than a page. Raises: StopDownload where the body could not be used."""
        if not is_page(request):
            return
        declared = content_type(header_lines(headers))
        if not self._reads(request, declared):
            raise StopDownload(fail=False)
        for name in (_UNSURE, _LARGER):  # a redirect hands on what was said of another answer
            if request.meta.pop(name, None):
                request.meta.pop("download_maxsize", None)
        if self._may_be_document(declared):
            request.meta[_LARGER], request.meta["download_maxsize"] = True, self._documents.max_bytes
            if declared_kind(declared) is None and not headers.get(b"Content-Encoding"):
                request.meta[_UNSURE] = True

    def bytes_received(self, data: bytes, request: Request, **_: Any) -> None:
        """Raises: StopDownload where a control file has been read as far as it is going to be parsed, and where a body
        of which nothing is said does not begin as a document does.
        """
        if request.meta.get(_UNSURE) and len(data) >= ENOUGH:
            if not begins_as_file(data):
                raise StopDownload(fail=False)
            request.meta[_UNSURE] = False
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
            raise Denied(Drop("fetch", DropReason.NOT_TEXT, self._unread(kind)))
        if "download_stopped" in response.flags and request.meta.get(_UNSURE):
            raise Denied(Drop("fetch", DropReason.NOT_TEXT, self._unread(kind)))
        if "download_stopped" in response.flags and not is_control_file(request):
            raise Denied(Drop("fetch", DropReason.DOWNLOAD_FAILED, "the download was stopped before its end"))
        return response

    def _unread(self, declared: str) -> str:
        kind = declared_kind(declared)
        return escaped(declared, 100) + (f": {self._documents.refusal(kind)}" if kind else "")


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
