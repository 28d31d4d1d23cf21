"""Scrapy add-on: the log as JSON lines (LOG_JSON), one object a line, whatever a page or a server put into it."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.log import get_scrapy_root_handler

from crawler.number import number_of
from crawler.runtime import load

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

MOST_CHARACTERS = 16_384
"""Of a message and of a traceback: collectors cut longer lines into pieces that are no JSON (containerd at 16 KiB)."""


class JsonFormatter(logging.Formatter):
    """One line of ASCII for each record. Everything outside printable ASCII is escaped, control characters included."""

    def __init__(self, crawl: str, worker: str) -> None:
        super().__init__()
        self._common = {"crawl": crawl, "worker": worker}

    def format(self, record: logging.LogRecord) -> str:
        """Fields: time (UTC, RFC 3339), level, logger, message, crawl, worker, and exception where there is one."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": _cut(record.getMessage()),
            **self._common,
        }
        if record.exc_info:
            line["exception"] = _cut(self.formatException(record.exc_info))
        return json.dumps(line).replace("\x7f", "\\u007f")


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}… ({number_of(len(text), 'character')})"


class JsonLogAddon:
    """Takes the place of Scrapy's handler before any other component is made."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Scrapy installs its handler anew after this, by what the settings say then: none.

        Raises: NotConfigured without LOG_JSON, or with LOG_ENABLED off, without a word.
        """
        config = load(settings)
        if not config.metrics.log_json or not settings.getbool("LOG_ENABLED"):
            raise NotConfigured
        file = settings.get("LOG_FILE")
        mode = "a" if settings.getbool("LOG_FILE_APPEND") else "w"
        handler = logging.FileHandler(file, mode, encoding="ascii") if file else logging.StreamHandler()
        handler.setFormatter(JsonFormatter(config.crawl.crawl_id, config.crawl.worker_id))
        handler.setLevel(settings.get("LOG_LEVEL"))
        if (scrapys := get_scrapy_root_handler()) is not None:
            logging.root.removeHandler(scrapys)
        logging.root.addHandler(handler)
        settings.set("LOG_ENABLED", False, priority="cmdline")
        settings.set("LOG_FILE", None, priority="cmdline")
