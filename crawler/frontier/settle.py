"""Out of a worker's hands: what became of a lease. Settled, finished, failed, given back, held, or kept alive."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crawler.frontier.model import Fault, Nack, Wire
from crawler.frontier.script_call import ScriptCalls, by_shard, clean, ms, shard_of_token, wire_args

_FIRST_HOLD, _LONGEST_HOLD = 30.0, 6 * 3600.0  # seconds


Result = tuple[str, Wire | None] | tuple[str, Wire | None, bytes] | tuple[str, Wire | None, bytes, bytes]
"""Token, what the request cost, what to remember of the visit, what it brought."""


class Settle(ScriptCalls):
    """Ends leases. A lease that has expired is nobody's any more: its late outcome does nothing."""

    _jitter: Callable[[], float]

    async def settle(self, results: Iterable[Result]) -> list[bool]:
        """These URLs are finished; everything they produced is durable.

        Each comes with what its request cost (None where none was sent: its politeness slot goes to the next URL at
        once), what to remember of the visit (`visit_entry`), and what it brought (`outcome_entry`). False in the
        answer: the lease had expired, nothing happened.
        """
        rows = [(token, *wire_args(wire), *(*more, b"", b"")[:2]) for token, wire, *more in results]
        return [bool(n) for n in await self._per_token("ack", rows)]

    async def finish(self, results: Iterable[tuple[str, Wire | None]]) -> None:
        """These requests are over while their pages are still worked on: their scopes may be asked again."""
        await self._per_token("finish", [(token, *wire_args(wire)) for token, wire in results])

    async def nack(
        self,
        token: str,
        not_before: float | None,
        reason: str,
        *,
        counted: bool = True,
        wire: Wire | None = None,
        fault: Fault = Fault.URL,
    ) -> Nack:
        """This try failed; the URL comes back at `not_before` (None: at once).

        `counted=False` gives the URL back as if it had never been handed out. `fault` says whose failure it was; while
        the breaker of its scope is open a failure of the host costs the URL nothing. `Nack.EXHAUSTED`: no try is left;
        the lease lasts on so that the caller records the loss and acknowledges it, which moves it to the dead letters.
        """
        row = (token, ms(not_before or 0), clean(reason), int(counted), wire_args(wire)[0], int(fault))
        (answer,) = await self._run("nack", shard_of_token(token), [*self._nack_head(), *row])
        return Nack(answer)

    async def release(self, tokens: Iterable[str]) -> None:
        """Give leases back that were never begun; costs no attempt and keeps their place."""
        rows = [(token, 0, "", 0, "", 0) for token in tokens]
        await self._per_token("nack", rows, *self._nack_head())

    def _nack_head(self) -> tuple[int | float, ...]:
        limits = self.limits
        pauses = ms(limits.breaker_pause), ms(limits.breaker_longest)
        return (limits.tries, limits.breaker_failures, *pauses, self._jitter(), ms(limits.slowdown))

    async def hold(self, token: str, until: float, reason: str, *, wire: Wire | None = None) -> float:
        """The URL cannot be judged before `until`: it waits aside, longer at every repetition, without costing a try.

        Returns the time at which it is due again (0.0 for a stale lease). It comes back only while the crawl has other
        work or no end (`scheduler/held.py`), or at the start of a later run.
        """
        args = [token, ms(until), clean(reason), ms(_FIRST_HOLD), ms(_LONGEST_HOLD), wire_args(wire)[0]]
        return float(await self._run("hold", shard_of_token(token), args)) / 1000

    async def extend(self, tokens: Iterable[str]) -> list[str]:
        """This worker is alive: its leases last another term. Returns those that are lost already."""
        lost: list[str] = []
        for shard, rows in by_shard([(token,) for token in tokens]).items():
            args = [ms(self.limits.lease_seconds), *(row[0] for row in rows)]
            lost += [token.decode() for token in await self._run("extend", shard, args)]
        return lost
