"""A crawl hears SIGINT and SIGTERM from the end of its checks to the end of its process, and never half begins.

Scrapy listens only while the reactor runs, and until the engine runs a stop leaves everything as it is: a corpus that
has been opened by then would keep a run without an end, which in an object store looks like a living worker.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

from scrapy.utils.ossignal import install_shutdown_handlers

if TYPE_CHECKING:
    from scrapy.crawler import Crawler, CrawlerProcessBase

LOOK_SECONDS = 0.05
"""How often a crawl that is to stop, and whose corpus is just being opened, is asked whether it has begun."""


class Stopping:
    """What asks Scrapy's process to stop. `numbers`: the signals that came; Scrapy tells nobody which they were."""

    def __init__(self, process: CrawlerProcessBase) -> None:
        from twisted.internet import reactor  # the process has installed it

        self.numbers: list[int] = []
        self.crawler: Crawler | None = None  # known once it is made
        self._reactor: Any = reactor
        self._process, self._stop = process, process._signal_shutdown
        process._signal_shutdown = self.hear  # type: ignore[assignment,method-assign]  # Scrapy's handler, when it starts
        self._reactor.sigInt = self._reactor.sigTerm = self.hear  # Twisted's, a moment earlier

    def hear(self, number: int, frame: Any) -> None:
        """Stop as Scrapy does; a crawl whose corpus is being opened only once it has begun. The second signal kills."""
        self.numbers.append(number)
        if not self._is_opening():
            self._stop(number, frame)
            return
        install_shutdown_handlers(self._process._signal_kill)
        self._reactor.callFromThread(self._process._log_shutdown, number)
        self._reactor.callFromThread(self._stop_once_begun)

    def is_over(self) -> None:
        """Nothing is left to stop: a signal that comes while the process ends changes its exit code no more."""
        install_shutdown_handlers(signal.SIG_IGN)

    def _stop_once_begun(self) -> None:
        if self._is_opening():
            self._reactor.callLater(LOOK_SECONDS, self._stop_once_begun)
        else:
            self._process._graceful_stop_reactor()

    def _is_opening(self) -> bool:
        if self.crawler is None:
            return False
        from crawler.pipelines.sink import sink_of  # Scrapy loads this module for every command, and a crawl has it

        sink = sink_of.existing(self.crawler)
        return sink is not None and sink.is_open and not self.crawler.engine.running
