"""Many small requests, few round trips: while one batch is under way, the next one collects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Batcher(Generic[T, R]):
    """`await batcher(item)` sends the item with all that wait at that moment, and returns its own answer.

    There is no timer: an item alone leaves at once, under load the batches grow to whatever one round trip collects, at
    most `most`. `send` answers in the order of its items; an exception of it reaches every item of its batch.
    """

    def __init__(self, send: Callable[[list[T]], Awaitable[Sequence[R]]], most: int = 256) -> None:
        self._send = send
        self._most = most
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, item: T) -> R:
        """Send the item; returns its answer."""
        return await self.submit(item)

    def submit(self, item: T) -> asyncio.Future[R]:
        """Send without waiting; the future carries the answer."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_look_at)
        self._waiting.append((item, future))
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        return future

    @property
    def busy(self) -> bool:
        """True while something waits or is under way."""
        return self._task is not None

    async def drain(self) -> None:
        """Until everything submitted so far has been answered."""
        while self._task is not None:
            await asyncio.shield(self._task)

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._deliver(batch)
        finally:
            self._task = None

    async def _deliver(self, batch: list[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            answers = await self._send([item for item, _ in batch])
        except Exception as error:  # handed to whoever waits
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(batch, answers, strict=True):
            if not future.done():
                future.set_result(answer)


def _look_at(future: asyncio.Future[R]) -> None:
    """An error that nobody waits for is no traceback: every later call says the same."""
    _ = future.cancelled() or future.exception()
