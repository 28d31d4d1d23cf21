"""One Redis or Valkey, for whoever keeps state there: commands and scripts that survive restarts and outages.

The frontier and the duplicate index both stand on this. What counts as an outage, what a server must not be configured
to do, how a script is run and how a cluster is joined is said here and nowhere else.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import redis.asyncio as aioredis
from redis import exceptions as redis_errors
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from crawler.server.epochs import Epochs, ServerRestarted
from crawler.server.errors import FrontierMisconfigured, FrontierUnavailable
from crawler.server.lean import ShortWay, lean
from crawler.trouble import of_this_machine

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
_OUTAGE_CODES = ("MISCONF", "OOM", "LOADING", "NOREPLICAS", "BUSY ", "MASTERDOWN")
"""A full disk (MISCONF) or full memory stops writing for a while."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 5.0  # seconds between two attempts while the server is away
LOADING_SECONDS = 120.0  # for a server that reads its file
_CONNECT_SECONDS = 20.0  # an event loop that other work holds up must not look like a server that is away
_ANSWER_SECONDS = 30.0
RIGHTS = "check the database in the URL, and give its user the keys of the crawl and all commands on them (~* +@all)"
KEEPS_EVERYTHING = "noeviction"
"""The only `maxmemory-policy` under which a server throws nothing away."""


class Script(NamedTuple):
    """A Lua script: its text, and its SHA-1 in hex, by which a server knows one that it has run."""

    text: str
    sha: str

    @classmethod
    def of(cls, text: str) -> Script:
        """The script with this text."""
        return cls(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


class ServerClient:
    """Calls scripts and commands; while the server is away every call waits and tries again with growing pauses.

    Scripts are written so that running one twice after an unknown outcome loses nothing. `name` is what the log calls
    the server. `revive` is awaited while it is away and may start it again. `redis` is redis-py's client for commands.

    `epoch` grows when another server process answers than before: after a crash the last second of what the one before
    had answered may be lost. (Not on a cluster, whose clients connect in their own way.)

    """

    def __init__(
        self,
        url: str,
        name: str,
        *,
        revive: Revive | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.url = url
        self.epochs = Epochs()
        self._answered_at = 0.0
        self._short_way = ShortWay()
        self._name, self._revive, self._sleep = name, revive, sleep
        self._waiting, self._away_since = 0, 0.0  # calls that wait, and since when there are any
        self._address = f"redis{url.removeprefix('valkey')}" if url.startswith("valkey") else url
        self.redis: Any = aioredis.from_url(
            self._address,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            redis_connect_func=self.epochs.connected,
        )
        pool = self.redis.connection_pool
        pool.connection_class = lean(pool.connection_class)

    async def await_loaded(self) -> None:
        """Return when the server has read its file. Raises: RedisError, OSError where it does not answer."""
        deadline = time.monotonic() + LOADING_SECONDS
        while True:
            try:
                await self.redis.ping()
            except redis_errors.BusyLoadingError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)
            else:
                return

    async def eviction_policy(self) -> str:
        """What the server does when its memory is full; anything but KEEPS_EVERYTHING would lose state."""
        return str((await self.redis.info("memory")).get("maxmemory_policy", KEEPS_EVERYTHING))

    async def memory(self) -> tuple[int, int]:
        """Bytes that the server uses, and `maxmemory`; 0 = no limit. Of a cluster: of the node that answers."""
        info = await self.patiently(lambda: self.redis.info("memory"))
        return int(info.get("used_memory", 0)), int(info.get("maxmemory", 0))

    async def join_cluster(self) -> None:
        """Where the address is one of a cluster: go on with a client that knows all of it."""
        if (await self.redis.info("cluster")).get("cluster_enabled"):
            await self.redis.aclose()
            self.redis = aioredis.RedisCluster.from_url(self._address, protocol=2)
            await self.redis.initialize()

    async def close(self) -> None:
        """Give the sockets back."""
        await self.redis.aclose()

    async def answers(self) -> bool:
        """True where the server is there at this moment; asked once, nobody waits."""
        try:
            return bool(await self.redis.ping())
        except (redis_errors.RedisError, OSError):
            return False

    @property
    def epoch(self) -> int:
        """How many other server processes have answered so far."""
        return self.epochs.number

    @property
    def away_seconds(self) -> float:
        """For how long some call has been waiting for a server that is away; 0 where none does."""
        return time.monotonic() - self._away_since if self._waiting else 0.0

    @property
    def answered_at(self) -> float:
        """When the server last answered a call that waits for it (`time.monotonic()`; 0 = never).

        While any call waits this is the moment before: a full server answers what only reads, and nothing goes on.
        """
        return min(self._answered_at, self._away_since) if self._waiting else self._answered_at

    def only_in(self, epoch: int) -> AbstractContextManager[None]:
        """Scripts in this block run in that epoch or not at all. Raises: ServerRestarted."""
        return self.epochs.only_in(epoch)

    def mistrust(self) -> None:
        """The server answers as if it had forgotten something: whatever it said before counts as that of another."""
        self.epochs.number += 1

    async def script(self, script: Script, key: str, args: list[Any]) -> Any:
        """Run a script on one key (or a beginning of keys with a hash tag), for as long as it takes."""
        return await self.patiently(lambda: self.script_once(script, key, args))

    async def script_once(self, script: Script, key: str, args: list[Any]) -> Any:
        """Run a script now. Raises: RedisError, OSError where the server does not answer."""
        self.epochs.check()
        try:
            return await self._evaluate("EVALSHA", script.sha, 1, key, *args)
        except redis_errors.NoScriptError:
            return await self._evaluate("EVAL", script.text, 1, key, *args)

    async def _evaluate(self, *words: Any) -> Any:
        pool = getattr(self.redis, "connection_pool", None)
        return await (self.redis.execute_command(*words) if pool is None else self._short_way.ask(pool, *words))

    async def patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Await `call` until the server answers; errors that are not an outage are raised at once."""
        pause, waits, is_back = _FIRST_PAUSE, False, False
        try:
            while True:
                try:
                    answer = await call()
                except (redis_errors.RedisError, OSError) as error:
                    self._raise_mistakes(error)
                    if not waits:
                        waits = True
                        self._begin_to_wait(error)
                    await self._sleep(pause)
                    pause = min(pause * 2, _LONGEST_PAUSE)
                    if self._revive is not None:
                        with suppress(OSError):  # a full disk, for one: it passes as the outage does
                            await self._revive()
                else:
                    self._answered_at, is_back = time.monotonic(), True
                    return answer
        except ServerRestarted:
            is_back = True  # another process has answered: the outage is over, and the caller's to deal with
            raise
        finally:
            if waits:
                self._end_to_wait(is_back=is_back)

    def _raise_mistakes(self, error: Exception) -> None:
        """Raises: FrontierMisconfigured where the server refuses us; FrontierUnavailable where this machine lacks what
        a connection needs; the error itself where it is ours."""
        said = said_by_server(error)
        if isinstance(said, redis_errors.AuthenticationError):
            raise FrontierMisconfigured(
                f"{self._name} at {shown(self.url)} refuses the password ({said}): correct it in the address, "
                "then run the same command again"
            ) from error
        if isinstance(said, redis_errors.NoPermissionError):
            raise FrontierMisconfigured(
                f"{self._name} at {shown(self.url)} refuses what a crawl needs: {said}; {RIGHTS}"
            ) from error
        if sentence := of_this_machine(error):
            raise FrontierUnavailable(f"{self._name} at {shown(self.url)} cannot be reached: {sentence}") from error
        if not is_outage(error):
            raise error

    def _begin_to_wait(self, error: Exception) -> None:
        """Many calls wait for the same server: it is said once."""
        self._waiting += 1
        if self._waiting == 1:
            self._away_since = time.monotonic()
            log.warning("%s at %s is unreachable (%s): waiting for it", self._name, shown(self.url), error)

    def _end_to_wait(self, *, is_back: bool) -> None:
        self._waiting -= 1
        if self._waiting == 0 and is_back:
            log.warning("%s is back after %.1f s", self._name, time.monotonic() - self._away_since)


def said_by_server(error: Exception) -> BaseException:
    """What the server answered: while a connection is made redis-py calls any refusal an error of the connection."""
    return error.__cause__ if isinstance(error.__cause__, redis_errors.RedisError) else error


def is_outage(error: Exception) -> bool:
    """The server is gone, loading, full or without its master: all of these pass. Anything else is our mistake."""
    if isinstance(error, redis_errors.AuthenticationError):
        return False
    return isinstance(error, _OUTAGE) or str(error).startswith(_OUTAGE_CODES)


def shown(url: str) -> str:
    """The address without user name and password, for messages."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
