"""Which proxy does a site get, and which of them serve at present? Pure: the clock is given.

A site is its registrable domain, and has one proxy while that one serves (rendezvous hashing: where one goes, only its
own sites move, and they move back). Pace belongs to the frontier: more proxies never mean more requests to a site.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from crawler.downloader.proxies import Proxy
from crawler.downloader.reach import Reach, Whose

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 600.0
"""Seconds that a proxy is left alone after its first failure; doubles with each further one."""
RETIRED_AFTER = 6
"""Failures in a row until a proxy counts as retired: it is said once, and it is tried every LONGEST_PAUSE."""
TRIAL_SECONDS = 30.0
"""How long nobody else tries a proxy that one request tries again."""
TOGETHER_SECONDS, TOGETHER = 1.0, 2
"""So many other sites that lose their tunnels within that time, and none left: it was the proxy."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _State:
    failures: int = 0  # in a row
    away_until: float = 0.0
    is_tried: bool = False
    reaches: dict[int, Reach] = field(default_factory=dict)  # by port: a proxy may allow one only
    open: dict[object, tuple[str, float]] = field(default_factory=dict)  # tunnel → site, since when
    lost: dict[str, float] = field(default_factory=dict)  # site → when a tunnel of it ended


class ProxyHealth:
    """What is known of the proxies, in this worker."""

    def __init__(self, proxies: Sequence[Proxy], clock: Callable[[], float] = time.monotonic) -> None:
        self._proxies, self._clock = proxies, clock
        self._states = {proxy.name: _State() for proxy in proxies}
        self._none_since: float | None = None

    def of(self, site: str) -> Proxy | None:
        """The proxy of this site now; None where all are away."""
        now = self._clock()
        ranked = sorted(self._proxies, key=lambda proxy: _weight(site, proxy.name), reverse=True)
        for proxy in ranked:
            state = self._states[proxy.name]
            if not state.failures:
                return proxy
            if now >= state.away_until:
                state.is_tried, state.away_until = True, now + TRIAL_SECONDS
                return proxy
        self._none_since = now if self._none_since is None else self._none_since
        return None

    def served(self, proxy: Proxy, port: int) -> None:
        """It has made a tunnel to this port."""
        state, self._none_since = self._states[proxy.name], None
        self._reach(state, port).reached()
        if state.failures:
            log.warning("EGRESS_PROXIES: %s serves again", proxy.name)
            state.failures, state.away_until, state.is_tried = 0, 0.0, False

    def failed(self, proxy: Proxy, sentence: str) -> bool:
        """It does not serve. False where that is known: many requests meet one failure."""
        state, now = self._states[proxy.name], self._clock()
        if state.failures and not state.is_tried and now < state.away_until:
            return False
        state.failures, state.is_tried = state.failures + 1, False
        is_retired = state.failures >= RETIRED_AFTER
        pause = LONGEST_PAUSE if is_retired else FIRST_PAUSE * 2 ** (state.failures - 1)
        state.away_until = now + pause
        if state.failures == 1:
            log.warning("EGRESS_PROXIES: %s; its sites wait, or go through another one", sentence)
        elif state.failures == RETIRED_AFTER:
            log.error("EGRESS_PROXIES: %s; it is retired, and tried every %d minutes", sentence, LONGEST_PAUSE // 60)
        return True

    def is_away(self, proxy: Proxy) -> bool:
        """True while it does not serve."""
        return self._states[proxy.name].failures > 0

    def missed(self, proxy: Proxy, port: int, site: str) -> Whose:
        """It says that it does not reach this site at this port. Whose trouble is it? OURS = the proxy's."""
        return self._reach(self._states[proxy.name], port).missed(site)

    def none_for(self) -> float:
        """Seconds since all of them are away; 0 where one serves."""
        return 0.0 if self._none_since is None else self._clock() - self._none_since

    def opened(self, proxy: Proxy, tunnel: object, site: str) -> None:
        """A tunnel of this site is there."""
        self._states[proxy.name].open[tunnel] = site, self._clock()

    def closed(self, proxy: Proxy, tunnel: object, *, by_us: bool) -> None:
        """It has ended."""
        state, now = self._states[proxy.name], self._clock()
        site, _ = state.open.pop(tunnel, ("", 0.0))
        if site and not by_us:
            state.lost = {name: at for name, at in state.lost.items() if now - at <= TOGETHER_SECONDS}
            state.lost[site] = now

    def lost_together(self, proxy: Proxy, site: str) -> bool:
        """True where other sites have just lost their tunnels as well, and nobody has kept one."""
        state, now = self._states[proxy.name], self._clock()
        at = state.lost.get(site, now)
        others = [name for name, when in state.lost.items() if name != site and abs(when - at) <= TOGETHER_SECONDS]
        return len(others) >= TOGETHER and not any(since < at for _, since in state.open.values())

    def _reach(self, state: _State, port: int) -> Reach:
        if port not in state.reaches:
            state.reaches[port] = Reach(self._clock, outage=0.0)
        return state.reaches[port]


def _weight(site: str, proxy: str) -> bytes:
    return hashlib.blake2b(f"{proxy}\n{site}".encode(), digest_size=8).digest()
