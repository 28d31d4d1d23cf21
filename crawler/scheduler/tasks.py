"""What the scheduler does beside the engine: background work whose failure must not stay unnoticed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any


class Tasks:
    """Keeps tasks alive until they end. `failed` is called with the error of one that raised."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Begin a piece of work."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def cancel(self) -> None:
        """End all of them, and wait until they have ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(error)


async def end(task: asyncio.Task[None] | None) -> None:
    """Cancel a task and wait until it has ended; nothing to do where there is none."""
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
