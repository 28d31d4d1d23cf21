"""A request that fails by this machine's trouble goes back into its queue, and the worker stops: nobody is judged."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from scrapy.exceptions import CannotResolveHostError

from crawler.downloader.reach import Reach, Whose, has_route
from crawler.downloader.resolver import looks_up, unanswered
from crawler.scheduler.turned_away import PutBack
from crawler.trouble import of_this_machine, perhaps_of_this_machine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

_PAUSE = 1.0  # seconds until a request is tried again whose failure is nobody's yet


class OwnTrouble:
    """Looks at what failed. `stop` ends the crawl with a sentence; `control` tells whether names are looked up (True,
    False) or answers None where it knows no name to try."""

    def __init__(self, stop: Callable[[str], None], control: Callable[[], Awaitable[bool | None]] = looks_up) -> None:
        self._stop, self._control = stop, control
        self._names, self._hosts = Reach(), Reach()
        self._said = False

    def answered(self) -> None:
        """A host was reached."""
        self._hosts.reached()
        self._said = False

    async def look_at(self, error: Exception, host: str) -> None:
        """Raises: PutBack where the failure is this machine's trouble, or may be."""
        if isinstance(error, PutBack):
            return
        named = isinstance(error, CannotResolveHostError)
        found = unanswered.get(host.lower()) if named else error
        if found is None:
            self._names.reached()  # somebody says that there is no such name
            return
        if sentence := of_this_machine(found):
            self._stop(sentence)
            raise PutBack(time.time()) from error
        sentence = perhaps_of_this_machine(found)
        if named and sentence is None:
            sentence = "host names are not resolved in time: check this machine's DNS (/etc/resolv.conf)"
        if sentence is not None:
            await self._judge(sentence, host, error, named=named)

    async def _judge(self, sentence: str, host: str, error: Exception, *, named: bool) -> None:
        if named:
            knows = await self._control()
            whose = self._names.missed(host, accused=None if knows is None else not knows)
        else:
            whose = self._hosts.missed(host, accused=None if has_route() else True)
        if whose is Whose.THEIRS:
            return
        if whose is Whose.OURS:
            self._stop(f"{sentence}; then run the same command again")
        elif not self._said:
            self._said = True
            log.warning("%s; no page is judged until then", sentence)
        raise PutBack(time.time() + _PAUSE) from error
