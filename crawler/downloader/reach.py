"""Is it this machine that reaches nobody, or a host that is not reached? Other hosts are the witnesses.

Nobody is judged while that is not clear: a host that is reached meanwhile clears the machine; several that are not, or
no route at all, accuse it; and where there is no witness the host is judged for itself after a few seconds.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum

DOUBT_SECONDS = 5.0
"""How long nobody is judged, where nothing says whose trouble it is."""
WITNESSES = 3
"""So many hosts out of reach within DOUBT_SECONDS, and none that is reached, are no coincidence."""
OUTAGE_SECONDS = 30.0
"""How long trouble of this machine may last before the worker stops: a name server starts again, a route comes back."""
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))  # documentation: nothing is sent


class Whose(Enum):
    """Whose trouble it is; UNCLEAR also while trouble of this machine may pass."""

    THEIRS = "theirs"
    OURS = "ours"
    UNCLEAR = "unclear"


class Reach:
    """What this worker has reached, of one kind: names looked up, or hosts connected to (by one proxy).

    outage: seconds that trouble of ours may last before it is called so.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, outage: float = OUTAGE_SECONDS) -> None:
        self._clock, self._outage = clock, outage
        self._reached_at = float("-inf")
        self._missed: dict[str, float] = {}  # host → since when
        self._down_since: float | None = None

    def reached(self) -> None:
        """Some host was."""
        self._reached_at, self._down_since = self._clock(), None

    def missed(self, host: str, *, accused: bool | None = None) -> Whose:
        """This one was not, for a reason that may be ours. `accused`: what else is known; True = it is ours."""
        now = self._clock()
        self._missed = {name: at for name, at in self._missed.items() if now - at <= 2 * DOUBT_SECONDS}
        since = self._missed.setdefault(host, now)
        if accused is False or (accused is None and self._reached_at > since):
            del self._missed[host]
            return Whose.THEIRS
        together = [at for at in self._missed.values() if at > self._reached_at]
        if accused or len(together) >= WITNESSES or self._down_since is not None:
            self._down_since = now if self._down_since is None else self._down_since
            return Whose.OURS if now - self._down_since >= self._outage else Whose.UNCLEAR
        return Whose.UNCLEAR if now - since < DOUBT_SECONDS else Whose.THEIRS


def has_route() -> bool:
    """True where this machine has a way to the world at all. Nothing is sent."""
    for family, address in _ELSEWHERE:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return True
    return False
