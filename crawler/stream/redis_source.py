"""Reads a stream of Redis or Valkey for one consumer, whose table says how far it is.

The group of the consumer is told the same position, so that the sender trims nothing that it has not read.
"""

from __future__ import annotations

from typing import Any

from redis import exceptions as redis_errors

from crawler.stream.message import Message, StreamError, decoded
from crawler.stream.redis_target import FIELD, OF_WITHDRAWALS, RedisTarget, numbers
from crawler.stream.table import Arrived, Position
from crawler.stream.target import Address

_AT_ONCE = 500
_BLOCK_MILLISECONDS = 500


class RedisSource:
    """One stream, read by one group. Raises: FrontierError where the server refuses us, StreamError where no stream is.

    shared: a sentence, where the group is ahead of the table, so that another one reads with it; "" = it is not.
    """

    keeps_all = True
    """Messages are missing only where something is wrong, or was withdrawn."""

    def __init__(self, address: Address, group: str) -> None:
        self._stream, self._group = RedisTarget(address), group
        self._name = self._stream.name
        self._erased: set[tuple[int, int]] = set()  # epoch and sequence of what withdrawals deleted
        self._read_to = "-"
        self._looked = False
        self.shared = ""
        try:
            self._check_there()
        except BaseException:
            self.close()
            raise

    def _check_there(self) -> None:
        if self._stream.present(0, {}) is None:
            url = self._stream.url
            raise StreamError(f"{url}: there is no such stream; correct its name, or begin it with `gristmill stream`")

    def close(self) -> None:
        """Let go of the server."""
        self._stream.close()

    def read(self, positions: dict[int, Position]) -> list[Arrived]:
        """The next messages; empty where none came for half a second."""
        place = positions[0].place if 0 in positions else "0-0"
        if not self._looked:
            self._looked = True
            self._look(place)
        self._note(place)
        found = self._stream.call(lambda redis: redis.xread({self._name: place}, _AT_ONCE, _BLOCK_MILLISECONDS))
        entries = [entry for _, some in found or () for entry in some]
        return [Arrived(decoded(fields[FIELD], self._stream.url), name.decode()) for name, fields in entries]

    def done(self, positions: dict[int, Position]) -> None:
        """All before these positions is in the table."""
        if 0 in positions:
            self._note(positions[0].place)

    def _look(self, place: str) -> None:
        """See whether somebody else reads with the group."""
        groups = self._stream.call(lambda redis: redis.xinfo_groups(self._name))
        at = next((group["last-delivered-id"] for group in groups if group["name"] == self._group.encode()), b"0-0")
        if numbers(at) > numbers(place):
            self.shared = (
                f"the group {self._group!r} has read {self._stream.url} up to {at.decode()}, further than this table: "
                "another table reads with it, or this one is an older copy; give each table a group of its own with "
                "--group NAME"
            )

    def _note(self, place: str) -> None:
        async def note(redis: Any) -> None:
            try:
                await redis.xgroup_setid(self._name, self._group, place)
            except redis_errors.ResponseError as error:
                if not str(error).startswith(("NOGROUP", "The XGROUP subcommand requires the key", "ERR")):
                    raise
                if await redis.exists(self._name):  # a server that was emptied gets the stream from its sender, not us
                    await redis.xgroup_create(self._name, self._group, place)

        self._stream.call(note)

    def excused(self, message: Message, missing: range) -> bool:
        """True where all of these messages were deleted, because what they told was withdrawn."""
        wanted = {(message.epoch, sequence) for sequence in missing}
        if not wanted <= self._erased:
            entries = self._stream.call(lambda redis: redis.xrange(self._name + OF_WITHDRAWALS, self._read_to))
            for name, fields in entries:
                told = decoded(fields[FIELD], self._stream.url)
                self._erased.update((told.epoch, sequence) for sequence in told.erased)
                self._read_to = name.decode()
        return wanted <= self._erased
