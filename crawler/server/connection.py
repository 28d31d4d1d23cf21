"""The frontier's server, and the clock that all workers of a crawl share."""

from __future__ import annotations

import time

from redis import exceptions as redis_errors

from crawler.server.client import KEEPS_EVERYTHING, RIGHTS, Revive, ServerClient, is_outage, shown
from crawler.server.epochs import ServerRestarted
from crawler.server.errors import FrontierMisconfigured, FrontierUnavailable, untrusted, unwritable
from crawler.times import Clock

__all__ = ["Connection", "ServerRestarted", "shown"]


SET_SECONDS = 2.0
"""A clock that goes back or on by more was set; by less it was measured in two ways."""


_CERTAIN_SECONDS, _LEAST_LOOKS, _MOST_LOOKS = 0.1, 2, 20
"""How well the clock has to be known before the first lease, how often it is looked at again in any case (the first
look makes the connection), and how often at most: a machine that is busy as its workers start answers itself late."""


class Connection(ServerClient):
    """A `ServerClient` with a clock. `now` is the time all workers agree on: the server's, unless injected."""

    def __init__(self, url: str, *, now: Clock | None = None, revive: Revive | None = None) -> None:
        super().__init__(url, "frontier server", revive=revive)
        self._began = time.time() - _steady()  # what the local clock is set to later changes nothing
        self._offset = 0.0
        self.ahead = 0.0
        """Seconds by which the time of the crawl is ahead of the server's clock, which somebody has set back; less than
        0: behind one that was set on."""
        self._doubt = float("inf")  # seconds by which the offset may be wrong
        self._fixed_clock = now

    def now(self) -> float:
        """Seconds since the epoch, as the server sees it; never back to what was before."""
        return self._fixed_clock() if self._fixed_clock else self.server_time() + self.ahead

    def server_time(self) -> float:
        """What the server's clock shows."""
        return self._local() + self._offset

    @property
    def is_measured(self) -> bool:
        """True where `now` is the server's to tell."""
        return self._fixed_clock is None

    def _local(self) -> float:
        return self._began + _steady()

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
            await self.await_loaded()
            for look in range(_MOST_LOOKS):
                await self.synchronize()
                if look >= _LEAST_LOOKS and self._doubt <= _CERTAIN_SECONDS:
                    break
            policy = await self.eviction_policy()
            if policy == KEEPS_EVERYTHING:
                await self.join_cluster()
        except (redis_errors.RedisError, OSError) as error:
            said = error.__cause__ or error  # on a new connection redis-py calls it an error of the connection
            if isinstance(said, redis_errors.AuthenticationError):
                raise FrontierMisconfigured(f"{shown(self.url)} refuses the password in REDIS_URL: {said}") from error
            if isinstance(said, redis_errors.ResponseError) and not is_outage(said):
                raise FrontierMisconfigured(
                    f"the server at {shown(self.url)} answers, but refuses what a crawl needs: {said}; {RIGHTS}"
                ) from error
            if why := unwritable(error) or untrusted(error):
                raise FrontierUnavailable(f"the frontier's server at {shown(self.url)} {why}") from error
            raise FrontierUnavailable(
                f"no Redis or Valkey answers at {shown(self.url)} ({error}); start it, correct REDIS_URL, "
                "or leave REDIS_URL unset for an embedded server"
            ) from error
        if policy != KEEPS_EVERYTHING:
            raise FrontierMisconfigured(
                f"the server at {shown(self.url)} has maxmemory-policy {policy}: under memory pressure it would "
                "evict parts of the frontier; run CONFIG SET maxmemory-policy noeviction (and put it into its "
                "configuration), or use a server of its own"
            )

    async def synchronize(self) -> None:
        """Measure how far the local clock is from the server's.

        A slow answer says little: the offset may be wrong by half the time it took. It replaces an earlier measurement
        only where that one was less certain, or can no longer be right.
        """
        before = self._local()
        seconds, micros = await self.redis.time()
        after = self._local()
        offset, doubt = float(seconds) + float(micros) / 1e6 - (before + after) / 2, (after - before) / 2
        was_set = abs(back := self._offset - offset) > doubt + self._doubt  # both cannot be right
        if doubt < self._doubt or was_set:
            if was_set and abs(back) > SET_SECONDS:
                self.ahead += back
            self._offset, self._doubt = offset, doubt


def _steady() -> float:
    """Seconds by a clock that nobody sets, and that goes on while the machine is suspended where there is one."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)
