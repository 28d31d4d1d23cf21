"""Seeds out of a Redis stream, with acknowledgement: the key of the list may be a stream, `XADD corpus:start_urls …`.

The workers of a crawl are one group with one consumer. An entry is acknowledged once its URL is in the frontier; one
that a dead worker had in hand is read again a minute later, and two workers at the same entry do no harm.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from redis.exceptions import ResponseError

if TYPE_CHECKING:
    from crawler.server.connection import Connection

GROUP = "gristmill"
_CONSUMER = "workers"
_LEFT_MILLISECONDS = 60_000
"""How long an entry may be in a worker's hands before another one reads it."""


class SeedStream:
    """One stream. Entries have the fields `url` and, if one likes, `priority`."""

    def __init__(self, connection: Connection, key: str) -> None:
        self._connection, self._key = connection, key

    async def read(self, most: int) -> list[tuple[bytes, bytes]]:
        """The next entries: id, and what the list would hold in its place. Those that were left over come first."""
        try:
            return await self._read(most)
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
        redis = self._connection.redis
        try:
            await self._connection.patiently(lambda: redis.xgroup_create(self._key, GROUP, "0"))
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):  # another worker was first
                raise
        return await self._read(most)

    async def _read(self, most: int) -> list[tuple[bytes, bytes]]:
        redis = self._connection.redis
        claimed = await self._connection.patiently(
            lambda: redis.xautoclaim(self._key, GROUP, _CONSUMER, _LEFT_MILLISECONDS, "0-0", count=most)
        )
        entries: list[Any] = list(claimed[1])
        if len(entries) < most:
            found = await self._connection.patiently(
                lambda: redis.xreadgroup(GROUP, _CONSUMER, {self._key: ">"}, count=most - len(entries))
            )
            entries += [entry for _, some in found or () for entry in some]
        return [(name, _as_entry(fields)) for name, fields in entries if fields is not None]

    async def done(self, names: Sequence[bytes]) -> None:
        """Acknowledge these entries: what they name is in the frontier, or was refused."""
        if names:
            redis = self._connection.redis
            await self._connection.patiently(lambda: redis.xack(self._key, GROUP, *names))


def _as_entry(fields: dict[bytes, bytes]) -> bytes:
    """The fields of an entry as the JSON object of the list: whatever is wrong with them is said by one reader."""
    named: dict[str, Any] = {
        name.decode("utf-8", "replace"): text.decode("utf-8", "replace") for name, text in fields.items()
    }
    if "priority" in named and named["priority"].removeprefix("-").isdecimal():
        named["priority"] = int(named["priority"])
    return json.dumps(named).encode()
