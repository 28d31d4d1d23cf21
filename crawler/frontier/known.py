"""In front of the seen-set: URL hashes that the server has for certain, so that they need not be sent again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

_MOST = 100_000


class Known:
    """The latest hashes, as far as the server that answered them still vouches for them.

    `epoch` is `Connection.epoch`: after a restart the server may have forgotten what it answered last.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._hashes: OrderedDict[int, None] = OrderedDict()
        self._epoch = 0

    def among(self, hashes: list[int], epoch: int) -> list[bool]:
        """Which of these are known in this epoch."""
        if epoch != self._epoch:
            self._hashes.clear()
            self._epoch = epoch
        return [h in self._hashes for h in hashes]

    def add(self, hashes: Iterable[int], epoch: int) -> None:
        """Remember what the server answered in this epoch."""
        if epoch != self._epoch:
            return
        for h in hashes:
            self._hashes[h] = None
            self._hashes.move_to_end(h)
        while len(self._hashes) > self._most:
            self._hashes.popitem(last=False)
