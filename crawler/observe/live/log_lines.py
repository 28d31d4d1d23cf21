"""Scrapy's lines about items and requests; what the settlement says once in a sentence is no traceback a page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

from crawler.storage.files.errors import StorageError

if TYPE_CHECKING:
    from scrapy.logformatter import LogFormatterResult


class LogLines(LogFormatter):
    """A corpus that cannot be written fails for every page under way: LOG_LEVEL=DEBUG shows where."""

    def item_error(self, item: Any, exception: BaseException, *others: Any) -> LogFormatterResult:
        """Scrapy's line with its traceback."""
        line = super().item_error(item, exception, *others)
        if isinstance(exception, StorageError):
            line["level"] = logging.DEBUG
        return line
