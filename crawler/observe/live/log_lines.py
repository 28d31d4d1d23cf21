"""Scrapy's lines about items and requests; what the settlement says once in a sentence is no traceback a page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

from crawler.pipelines.base import is_trouble

if TYPE_CHECKING:
    from scrapy.logformatter import LogFormatterResult
    from twisted.python.failure import Failure


class LogLines(LogFormatter):
    """A corpus that cannot be written, or a server that refuses us, fails for every page under way: LOG_LEVEL=DEBUG
    shows where."""

    def item_error(self, item: Any, exception: BaseException, *others: Any) -> LogFormatterResult:
        """Scrapy's line with its traceback."""
        return _quiet(super().item_error(item, exception, *others), exception)

    def spider_error(self, failure: Failure, *others: Any) -> LogFormatterResult:
        """As above, of a callback."""
        return _quiet(super().spider_error(failure, *others), failure.value)

    def download_error(self, failure: Failure, *others: Any) -> LogFormatterResult:
        """As above, of a request."""
        return _quiet(super().download_error(failure, *others), failure.value)


def _quiet(line: LogFormatterResult, error: BaseException | None) -> LogFormatterResult:
    if error is not None and is_trouble(error):
        line["level"] = logging.DEBUG
    return line
