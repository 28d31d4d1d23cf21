"""Which server process answers: below every connection to Redis or Valkey, for whoever must notice a restart.

A server that died may have forgotten the last second of what it had answered (`appendfsync everysec`). Every new
connection asks which process it leads to; `number` grows whenever that is another one than before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class ServerRestarted(Exception):  # noqa: N818  # an event, and the caller's to deal with
    """The server was started again meanwhile: what it had answered last may be gone."""


class Epochs:
    """Counts the processes behind one address. Not on a cluster, whose clients connect in their own way."""

    def __init__(self) -> None:
        self.number = 0
        self._process = b""

    @contextmanager
    def only_in(self, number: int) -> Iterator[None]:
        """What is sent in this block is sent in that epoch or not at all. Raises: ServerRestarted."""
        token = _meant_for.set((self, number))
        try:
            yield
        finally:
            _meant_for.reset(token)

    async def connected(self, connection: Any) -> None:
        """redis-py's `redis_connect_func`: find out which process this is before anything is sent to it."""
        await connection.on_connect()
        await connection.send_command("INFO", "server")
        lines = bytes(await connection.read_response()).splitlines()
        process = next((line for line in lines if line.startswith(b"run_id:")), b"")
        if self._process not in (b"", process):
            self.number += 1
        self._process = process
        self.check()

    def check(self) -> None:
        """Raises: ServerRestarted where the block around is meant for another epoch."""
        meant = _meant_for.get()
        if meant is not None and meant[0] is self and meant[1] != self.number:
            raise ServerRestarted


_meant_for: ContextVar[tuple[Epochs, int] | None] = ContextVar("_meant_for", default=None)
