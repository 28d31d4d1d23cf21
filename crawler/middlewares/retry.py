"""A download exception may pass, so the frontier decides when to try again and when to give up.

Nothing is retried here. `Drop` says what is recorded if no try is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import DownloadCancelledError, IgnoreRequest, NotSupported, UnsupportedURLSchemeError

from crawler.document import Drop, DropReason
from crawler.downloader.certificates import certificate_problem
from crawler.middlewares._meta import is_control_file
from crawler.middlewares.outcomes import Denied, TryLater
from crawler.middlewares.source import without_key
from crawler.policy.headers import escaped

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class RetryMiddleware:
    """Turns every download exception into TryLater, except those that no second try can change."""

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Needs no settings."""
        return cls()

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Raises: TryLater or Denied; outcomes of other middlewares pass unchanged."""
        if isinstance(exception, IgnoreRequest) or is_control_file(request):
            return
        detail = without_key(request, describe(exception))
        if isinstance(exception, DownloadCancelledError):  # Scrapy cancels what is larger than DOWNLOAD_MAXSIZE
            raise Denied(Drop("fetch", DropReason.TOO_LARGE, detail)) from exception
        if isinstance(exception, (UnsupportedURLSchemeError, NotSupported)):
            raise Denied(Drop("guard", DropReason.NETWORK_FORBIDDEN, detail)) from exception
        raise TryLater(Drop("fetch", DropReason.DOWNLOAD_FAILED, detail)) from exception


def describe(exception: Exception) -> str:
    """The kind of failure and its message, on one line."""
    if problem := certificate_problem(exception):
        return escaped(problem, 400)
    return escaped(f"{type(exception).__name__}: {exception}", 200)
