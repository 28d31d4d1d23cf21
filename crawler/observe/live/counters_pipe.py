"""Scrapy extension: tells the supervisor of `gristmill work` the counters of this worker, through an inherited pipe.

A JSON object a line, once a second, and one at the end with `finished`, the reason of the end, and `told`, what the
summary says of it (`crawler/observe/live/run_end.py`). A line is shorter than PIPE_BUF, so that it is written whole or,
where nobody reads, not at all: the crawl never waits for its supervisor.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson
from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawler.observe.live.counted import counters_of, own_counters
from crawler.observe.live.run_end import told_by
from crawler.runtime import config_of
from crawler.scheduler.tasks import end
from crawler.server.errors import ServerError
from crawler.statkeys import FATAL

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

TICK_SECONDS = 1.0
MOST_BYTES = 4096  # PIPE_BUF of Linux; POSIX promises 512
MOST_DOMAINS = 4  # one more than are shown
MOST_REASONS = 40


class CountersExtension:
    """Writes to the descriptor PROGRESS_FD, which it owns from now on."""

    def __init__(self, crawler: Crawler, descriptor: int) -> None:
        self._crawler, self._descriptor = crawler, descriptor
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the start and the end of the crawl. Raises: NotConfigured without PROGRESS_FD, without a word."""
        descriptor = config_of(crawler).crawl.progress_fd
        if descriptor < 0:
            raise NotConfigured
        os.set_blocking(descriptor, False)
        extension = cls(crawler, descriptor)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    def opened(self) -> None:
        """Begin to tell."""
        self._task = asyncio.ensure_future(self._run())

    async def closed(self) -> None:
        """Everything is sealed: the last counters, and why it ended."""
        await end(self._task)
        assert self._crawler.stats is not None
        stats = self._crawler.stats.get_stats()
        fatal = stats.get(FATAL)
        last = {
            "finished": stats.get("finish_reason", ""),
            "fatal": str(fatal) if fatal else "",
            "told": told_by(stats),
        }
        self._write(asdict(own_counters(self._crawler)) | last)

    async def _run(self) -> None:
        while True:
            with suppress(ServerError):  # the crawl itself says what is wrong with the server
                self._write(asdict(await counters_of(self._crawler)))
            await asyncio.sleep(TICK_SECONDS)

    def _write(self, counters: dict[str, Any]) -> None:
        frequent = sorted(counters["rejected"].items(), key=lambda item: -item[1])[:MOST_REASONS]
        message = counters | {
            "at": time.time(),
            "domains": counters["domains"][:MOST_DOMAINS],
            "rejected": dict(frequent),
        }
        message.pop("archives")
        message.pop("workers")
        told = message.get("told")
        less: dict[str, Any] = (
            {"told": {name: value for name, value in told.items() if not isinstance(value, list)}} if told else {}
        )
        for shorter in (dict[str, Any](), less, less | {"rejected": {}, "domains": []}):
            line = orjson.dumps(message | shorter) + b"\n"
            if len(line) <= MOST_BYTES:
                break
        with suppress(OSError):  # nobody reads, or nobody is there any more
            os.write(self._descriptor, line)
