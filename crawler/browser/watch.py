"""Looks at the browser's processes: one that uses too much is ended, and with it the page that it draws.

Every page has a renderer process of its own. All of them give way to the rest of the crawl (nice).
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections import deque
from contextlib import suppress

import psutil

from crawler.document import DropReason

LOOK_SECONDS = 0.5
NICENESS = 10
MARK = "--corpus-crawler="
"""A command-line switch that Chromium does not know and leaves alone: by it the crawl finds its own browser."""

Death = tuple[DropReason, str]


class Watch:
    """The processes of one worker's browser. cpu_seconds, memory_mb: of one renderer process."""

    def __init__(self, cpu_seconds: float, memory_mb: int) -> None:
        self.mark = MARK + uuid.uuid4().hex
        self.deaths: deque[Death] = deque(maxlen=100)
        self._cpu_seconds, self._memory_mb = cpu_seconds, memory_mb
        self._nice: set[int] = set()

    async def run(self) -> None:
        """Look again and again. Never returns."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.deaths.extend(await asyncio.to_thread(self.look))

    def why(self) -> Death:
        """What ended the page that died last, as far as it was this watch."""
        return self.deaths.popleft() if self.deaths else (DropReason.BROWSER_CRASHED, "its process ended by itself")

    def look(self) -> list[Death]:
        """End every renderer that is beyond a limit; answers what was ended, and why."""
        found = [self._judged(process) for process in self.processes()]
        return [death for death in found if death is not None]

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

    def _judged(self, process: psutil.Process) -> Death | None:
        with suppress(psutil.Error):
            if process.pid not in self._nice:
                self._nice.add(process.pid)
                process.nice(max(NICENESS, process.nice()))
            if "--type=renderer" not in process.cmdline():
                return None
            times, memory = process.cpu_times(), process.memory_info().rss
            cpu = times.user + times.system
            if cpu > self._cpu_seconds:
                process.kill()
                return DropReason.BROWSER_TIMEOUT, f"more than {self._cpu_seconds:g} s of CPU time"
            if memory > self._memory_mb * 2**20:
                process.kill()
                return DropReason.BROWSER_CRASHED, f"more than {self._memory_mb} MiB of memory"
        return None
