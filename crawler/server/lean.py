"""Connections to the server without what redis-py spends on each command. Needs redis-py <8.2: `_writer` is private."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import hiredis
from redis import exceptions as redis_errors
from redis.asyncio.connection import AbstractConnection


class _Lean(AbstractConnection):
    """Packing in Python costs 1 µs an argument, and a PUT has 1,500: hiredis packs.

    Sending is a task of its own under Python 3.11 (`asyncio.wait_for`), for a socket that nearly always takes all of it
    at once.
    """

    def pack_command(self, *args: Any) -> list[bytes]:
        name = args[0].encode().split() if isinstance(args[0], str) else args[0].split()
        return [hiredis.pack_command((*name, *args[1:]))]

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        if not self.is_connected or isinstance(command, str | bytes):
            await super().send_packed_command(command, check_health)
            return
        assert self._writer is not None
        try:
            self._writer.writelines(command)
            if self._writer.transport.get_write_buffer_size():
                await asyncio.wait_for(self._writer.drain(), self.socket_timeout)
            else:
                await self._writer.drain()  # raises where the connection was lost
        except OSError as error:
            await self.disconnect(nowait=True)
            raise redis_errors.ConnectionError(f"cannot write to the server: {error}") from error
        except BaseException:
            await self.disconnect(nowait=True)  # half a command may have gone
            raise


class ShortWay:
    """Commands whose answer is taken as it comes, at half of what redis-py spends on one: 25 µs, and a page has three.

    What is left out is its counting of connections, its retries (there are none here) and the forms that it gives to
    answers. A connection comes from redis-py's pool and stays in use there; the pool closes it with all others.
    """

    def __init__(self) -> None:
        self._free: list[AbstractConnection] = []

    async def ask(self, pool: Any, *words: Any) -> Any:
        """Send one command and return its answer. Raises: RedisError, OSError; the connection may be used again."""
        connection: Any = self._free.pop() if self._free else await pool.get_connection()
        try:
            await _make_clean(connection)
            await connection.send_command(*words)
            return await connection.read_response()
        finally:
            self._free.append(connection)


async def _make_clean(connection: Any) -> None:
    """Connected, and nothing to be read: a connection that the other side has closed is one that can be read."""
    with suppress(redis_errors.RedisError, OSError):
        if connection.is_connected and not await connection.can_read():
            return
    await connection.disconnect()
    await connection.connect()


def lean(connection_class: type[Any]) -> type[Any]:
    """The same kind of connection (TCP, TLS, Unix socket), which packs and sends in the short way."""
    return type("LeanConnection", (_Lean, connection_class), {})
