"""The wire to Redis or Valkey: one script call that survives restarts of the server, and a clock all workers share."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import hiredis
import redis.asyncio as aioredis
from redis import exceptions as redis_errors
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from crawler.server.epochs import Epochs, ServerRestarted
from crawler.server.errors import FrontierMisconfigured, FrontierUnavailable
from crawler.times import Clock

log = logging.getLogger(__name__)
T = TypeVar("T")
Revive = Callable[[], Awaitable[None]]
"""Called while the server does not answer; may start it again."""

_OUTAGE = (
    redis_errors.ConnectionError,  # includes BusyLoadingError
    redis_errors.TimeoutError,
    redis_errors.ReadOnlyError,
    redis_errors.OutOfMemoryError,
    redis_errors.ClusterDownError,
    redis_errors.TryAgainError,
    redis_errors.MasterDownError,
    OSError,
)
_LONGEST_PAUSE = 5.0  # seconds between two attempts while the server is away
_CONNECT_SECONDS = 20.0  # an event loop that other work holds up must not look like a server that is away

__all__ = ["Connection", "ServerRestarted", "shown"]


class _Lean(AbstractConnection):
    """A connection without what redis-py spends on each command.

    Packing in Python costs 1 µs an argument, and a PUT has 1,500: hiredis packs. Sending is a task of its own under
    Python 3.11 (`asyncio.wait_for`), for a socket that nearly always takes all of it at once.
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


def shown(url: str) -> str:
    """The address without user name and password, for messages."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class Connection:
    """Calls scripts and commands; while the server is away every call waits and tries again with growing pauses.

    Scripts are written so that running one twice after an unknown outcome loses nothing. `revive` is awaited while the
    server is away and may start it again. `now` is the time all workers agree on: the server's, unless injected.

    `epoch` grows when another server process answers than before: after a crash the last second of what the one before
    had answered may be lost. (Not on a cluster, whose clients connect in their own way.)
    """

    def __init__(self, url: str, *, now: Clock | None = None, revive: Revive | None = None) -> None:
        self.url = url
        self._revive = revive
        self._offset = 0.0
        self._doubt = float("inf")  # seconds by which the offset may be wrong
        self._fixed_clock = now
        self._epochs = Epochs()
        address = "redis" + url.removeprefix("valkey") if url.startswith("valkey") else url
        self.redis: Any = aioredis.from_url(
            address,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=30.0,
            redis_connect_func=self._epochs.connected,
        )
        pool = self.redis.connection_pool
        pool.connection_class = type("LeanConnection", (_Lean, pool.connection_class), {})

    def now(self) -> float:
        """Seconds since the epoch, as the server sees it."""
        return self._fixed_clock() if self._fixed_clock else time.time() + self._offset

    async def open(self) -> None:
        """Check that the server is there and will not throw keys away.

        Raises: FrontierUnavailable, FrontierMisconfigured. Nothing stays open then.
        """
        try:
            await self._check()
        except BaseException:
            await self.close()
            raise

    async def _check(self) -> None:
        try:
            await self._await_loaded()
            for _ in range(3):
                await self.synchronize()
            policy = (await self.redis.info("memory")).get("maxmemory_policy", "noeviction")
            clustered = (await self.redis.info("cluster")).get("cluster_enabled")
        except redis_errors.AuthenticationError as error:
            raise FrontierMisconfigured(f"{shown(self.url)} refuses the password in REDIS_URL: {error}") from error
        except (redis_errors.RedisError, OSError) as error:
            raise FrontierUnavailable(
                f"no Redis or Valkey answers at {shown(self.url)} ({error}); start it, correct REDIS_URL, "
                "or leave REDIS_URL unset for an embedded server"
            ) from error
        if policy != "noeviction":
            raise FrontierMisconfigured(
                f"the server at {shown(self.url)} has maxmemory-policy {policy}: under memory pressure it would throw "
                "away parts of the frontier; run CONFIG SET maxmemory-policy noeviction (and put it into its "
                "configuration), or use a server of its own"
            )
        if clustered:
            await self._join_cluster()

    async def _await_loaded(self) -> None:
        deadline = time.monotonic() + 120.0
        while True:
            try:
                await self.redis.ping()
            except redis_errors.BusyLoadingError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)
            else:
                return

    async def _join_cluster(self) -> None:
        address = self.url.replace("valkey", "redis", 1) if self.url.startswith("valkey") else self.url
        await self.redis.aclose()
        self.redis = aioredis.RedisCluster.from_url(address, protocol=2)
        await self.redis.initialize()

    async def synchronize(self) -> None:
        """Measure how far the local clock is from the server's.

        A slow answer says little: the offset may be wrong by half the time it took. It replaces an earlier measurement
        only where that one was less certain, or can no longer be right.
        """
        before = time.time()
        seconds, micros = await self.redis.time()
        after = time.time()
        offset, doubt = float(seconds) + float(micros) / 1e6 - (before + after) / 2, (after - before) / 2
        if doubt < self._doubt or abs(offset - self._offset) > doubt:
            self._offset, self._doubt = offset, doubt

    async def close(self) -> None:
        """Give the sockets back."""
        await self.redis.aclose()

    async def script(self, source: tuple[str, str], prefix: str, args: list[Any]) -> Any:
        """Run a script, given as its text and SHA-1, against one shard."""
        text, sha = source

        async def call() -> Any:
            self._epochs.check()
            try:
                return await self.redis.evalsha(sha, 1, prefix, *args)
            except redis_errors.NoScriptError:
                return await self.redis.eval(text, 1, prefix, *args)

        return await self.patiently(call)

    @property
    def epoch(self) -> int:
        """How many other server processes have answered so far."""
        return self._epochs.number

    def only_in(self, epoch: int) -> AbstractContextManager[None]:
        """Scripts in this block run in that epoch or not at all. Raises: ServerRestarted."""
        return self._epochs.only_in(epoch)

    async def patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Await `call` until the server answers; errors that are not an outage are raised at once."""
        pause, since = 0.05, 0.0
        while True:
            try:
                answer = await call()
            except redis_errors.AuthenticationError:
                raise
            except (*_OUTAGE, redis_errors.ResponseError) as error:
                if isinstance(error, redis_errors.ResponseError) and not _is_outage(error):
                    raise
                if not since:
                    since = time.monotonic()
                    log.warning("frontier server at %s is away (%s): waiting for it", shown(self.url), error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                if self._revive is not None:
                    await self._revive()
            else:
                if since:
                    log.warning("frontier server is back after %.1f s", time.monotonic() - since)
                return answer


def _is_outage(error: redis_errors.ResponseError) -> bool:
    """A full disk (MISCONF) or full memory stops writing for a while; anything else is a mistake of ours."""
    return isinstance(error, _OUTAGE) or str(error).startswith(("MISCONF", "OOM", "LOADING", "NOREPLICAS", "BUSY "))
