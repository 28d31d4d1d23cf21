"""An open door for seeds: `RPUSH <spider>:start_urls …` on the frontier's server, as scrapy-redis has it.

An entry is a bare URL or a JSON object `{"url": …, "priority": …}`; anything else in it is refused, because whoever can
write to the list must not steer requests. The spider says which URLs it admits. An entry leaves the list after its URL
is in the frontier: a crash in between costs nothing, two workers at the same entry do no harm.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from crawler.frontier.model import Candidate, PutStatus
from crawler.frontier.urls import canonicalize

if TYPE_CHECKING:
    from crawler.frontier.connection import Connection

log = logging.getLogger(__name__)

_BATCH = 64
_EVERY_SECONDS = 1.0
_LONGEST_ENTRY = 10_000  # bytes


class Door:
    """Takes entries of one list. `admits` is asked with each canonical URL."""

    def __init__(
        self,
        connection: Connection,
        key: str,
        admits: Callable[[str], bool],
        put: Callable[[list[Candidate]], Awaitable[list[PutStatus]]],
    ) -> None:
        self._connection = connection
        self._key = key
        self._admits = admits
        self._put = put
        self._looked = -_EVERY_SECONDS

    async def take(self) -> int:
        """Move what waits into the frontier, at most once a second. Returns how many entries left the list."""
        if time.monotonic() - self._looked < _EVERY_SECONDS:
            return 0
        self._looked = time.monotonic()
        redis = self._connection.redis
        entries = await self._connection.patiently(lambda: redis.lrange(self._key, 0, _BATCH - 1))
        if not entries:
            return 0
        found = [self._candidate(bytes(entry)) for entry in entries]
        await self._put([candidate for candidate in found if candidate is not None])
        for entry in entries:
            await self._connection.patiently(lambda entry=entry: redis.lrem(self._key, 1, entry))  # type: ignore[misc]
        return len(entries)

    def _candidate(self, entry: bytes) -> Candidate | None:
        try:
            url, priority = parse_entry(entry)
        except ValueError as error:
            log.warning("refused an entry of %s: %s", self._key, error)
            return None
        if not self._admits(url):
            log.warning("refused an entry of %s: %s is outside the crawl's scope", self._key, url[:200])
            return None
        return Candidate(url, priority)


def parse_entry(entry: bytes) -> tuple[str, int]:
    """Canonical URL and priority of one entry. Raises: ValueError saying what was expected."""
    if len(entry) > _LONGEST_ENTRY:
        raise ValueError(f"expected at most {_LONGEST_ENTRY} bytes, found {len(entry)}")
    text = entry.decode("utf-8", "strict").strip()
    fields: object = json.loads(text) if text.startswith("{") else {"url": text}
    if not isinstance(fields, dict) or not {"url"} <= fields.keys() <= {"url", "priority"}:
        raise ValueError('expected a URL or {"url": …, "priority": …} and no other field')
    url, priority = fields["url"], fields.get("priority", 0)
    if not isinstance(url, str) or type(priority) is not int:
        raise ValueError("expected a text as url and a whole number as priority")
    canonical = canonicalize(url)
    if canonical is None:
        raise ValueError("expected an http(s) URL")
    return canonical, priority
