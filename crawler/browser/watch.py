"""Looks at the browser's processes: one that uses too much is ended, and with it the page that it draws.

Every page has a renderer process of its own. All of them give way to the rest of the crawl (nice).
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import uuid
from collections import deque
from contextlib import suppress

import psutil

from crawler.document import DropReason, Reason

LOOK_SECONDS = 0.5
NICENESS = 10
MARK = "--corpus-crawler="
"""A command-line switch that Chromium does not know and leaves alone: by it the crawl finds its own browser."""

_CLAIM_SECONDS = 10.0  # within which the crawl hears that a page died; later the page had been closed already

Death = tuple[Reason, str]


class Watch:
    """The processes of one worker's browser. cpu_seconds, memory_mb: of one renderer process."""

    def __init__(self, cpu_seconds: float, memory_mb: int) -> None:
        self.mark = MARK + uuid.uuid4().hex
        self._deaths: deque[tuple[float, Death]] = deque(maxlen=100)
        self._lock = threading.Lock()  # looks are made in a thread, the crawl asks in its own
        self._cpu_seconds, self._memory_mb = cpu_seconds, memory_mb
        self._nice: set[int] = set()

    async def run(self) -> None:
        """Look again and again. Never returns."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await asyncio.to_thread(self.look)

    def why(self) -> Death:
        """What ended the page that died first of those that nobody has asked for, as far as it was this watch."""
        with self._lock:
            if self._is_claimed():
                return DropReason.BROWSER_CRASHED, "its process ended by itself"
            return self._deaths.popleft()[1]

    def look(self) -> None:
        """End the renderers that are beyond a limit.

        Nothing tells which page a process draws. So a page that only burns time waits until the page that was ended
        before it has been told why: two at once could be given each other's reason. Memory does not wait.
        """
        for process in self.processes():
            with suppress(psutil.Error):
                self._judge(process)

    def processes(self) -> list[psutil.Process]:
        """The browser and everything that it has started."""
        found: list[psutil.Process] = []
        for process in psutil.Process(os.getpid()).children(recursive=True):
            with suppress(psutil.Error):
                if self.mark in process.cmdline():
                    found += [process, *process.children(recursive=True)]
        return list({process.pid: process for process in found}.values())

    def kill(self) -> None:
        """End the browser at once."""
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()

    def _judge(self, process: psutil.Process) -> None:
        if process.pid not in self._nice:
            self._nice.add(process.pid)
            process.nice(max(NICENESS, process.nice()))
        if "--type=renderer" not in process.cmdline():
            return
        times, memory = process.cpu_times(), process.memory_info().rss
        if memory > self._memory_mb * 2**20:
            self._end(process, (DropReason.BROWSER_CRASHED, f"more than {self._memory_mb} MiB of memory"))
        elif times.user + times.system > self._cpu_seconds:
            death = DropReason.BROWSER_TIMEOUT, f"more than {self._cpu_seconds:g} s of CPU time"
            self._end(process, death, waits=True)

    def _end(self, process: psutil.Process, death: Death, *, waits: bool = False) -> None:
        """Nobody can ask before the reason stands: the crawl may hear of the death at once. waits: for its turn."""
        with self._lock:
            if waits and not self._is_claimed():
                return
            process.kill()
            self._deaths.append((time.monotonic(), death))

    def _is_claimed(self) -> bool:
        """True where no page that was ended here still has to hear why."""
        while self._deaths and self._deaths[0][0] < time.monotonic() - _CLAIM_SECONDS:
            self._deaths.popleft()
        return not self._deaths
