"""The usage of a worker is what its process and all processes below it take of the machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import psutil


class Usage:
    """CPU and memory of one process tree. `look()` is called about once a second; it never raises."""

    def __init__(self, pid: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._pid, self._clock = pid, clock
        self._at = clock()
        self._cpu: dict[int, float] = {}  # CPU seconds by process id, at the last look

    def look(self) -> tuple[float, int]:
        """Cores in use since the last look (1.0 = one core), and bytes of memory (resident)."""
        now, cpu, memory, used = self._clock(), dict[int, float](), 0, 0.0
        for process in self._tree():
            with suppress(psutil.Error), process.oneshot():
                times = process.cpu_times()
                cpu[process.pid] = times.user + times.system
                used += max(0.0, cpu[process.pid] - self._cpu.get(process.pid, 0.0))
                memory += process.memory_info().rss
        seconds = max(now - self._at, 0.001)
        self._at, self._cpu = now, cpu
        return used / seconds, memory

    def _tree(self) -> list[psutil.Process]:
        try:
            process = psutil.Process(self._pid)
            return [process, *process.children(recursive=True)]
        except psutil.Error:  # it has ended meanwhile
            return []
