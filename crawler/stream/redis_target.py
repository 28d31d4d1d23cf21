"""A stream on Redis or Valkey: the ids are `<epoch>-<sequence>`, so the server itself refuses a message that it has.

Withdrawals also stand in `STREAM:withdrawals`, which nothing trims. What a withdrawal names is deleted from the stream
with it: its text would else stay there until every group has read it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from redis import exceptions as redis_errors

from crawler.server.client import KEEPS_EVERYTHING, ServerClient, is_outage, said_by_server, shown
from crawler.server.epochs import ServerRestarted
from crawler.server.errors import FrontierMisconfigured, FrontierUnavailable, untrusted
from crawler.stream.message import BEGIN, FOR_GOOD, decoded
from crawler.stream.message import StreamError as Problem
from crawler.stream.state import Waiting
from crawler.stream.target import Address, LostError, Places, Present

T = TypeVar("T")
OF_WITHDRAWALS = ":withdrawals"
"""Follows the name of the stream."""
FIELD = b"message"
_LARGEST = 256 * 2**20


class RedisTarget:
    """A stream; every call waits while the server is away. Raises: FrontierError where it refuses us for good."""

    lanes, largest, erases = 1, _LARGEST, True

    def __init__(self, address: Address) -> None:
        self.url, self.name = address.shown, address.name
        self._runner = asyncio.Runner()
        self._client = ServerClient(address.server, "the server of the stream")
        self._server = shown(address.server)
        try:
            self._runner.run(self._open())
        except BaseException:
            self.close()
            raise

    async def _open(self) -> None:
        try:
            await self._client.await_loaded()
            policy = await self._client.eviction_policy()
        except (redis_errors.RedisError, OSError) as error:
            said = said_by_server(error)
            if isinstance(said, (redis_errors.AuthenticationError, redis_errors.NoPermissionError)):
                raise FrontierMisconfigured(
                    f"{self._server} refuses the user or the password: {said}; the user is part of the address, the "
                    "password belongs in STREAM_PASSWORD"
                ) from error
            why = untrusted(error) or f"does not answer ({error}); start it, or correct the address"
            raise FrontierUnavailable(f"the server of the stream at {self._server} {why}") from error
        if policy != KEEPS_EVERYTHING:
            raise FrontierMisconfigured(
                f"{self._server} has maxmemory-policy {policy}: with its memory full it would drop the stream; run "
                "CONFIG SET maxmemory-policy noeviction, or use a server of its own"
            )

    def close(self) -> None:
        """Let go of the server."""
        self._runner.run(self._client.close())
        self._runner.close()

    def lane_of(self, url: str) -> int:  # noqa: ARG002  # there is one
        """0: a stream is one lane."""
        return 0

    def call(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Ask the server, for as long as it takes."""

        async def patient() -> T:
            return await self._client.patiently(lambda: work(self._client.redis))

        return self._runner.run(patient())

    def present(self, epoch: int, delivered: Places) -> Present | None:  # noqa: ARG002  # the stream says it
        """What is there. Raises: StreamError where somebody else's entries are."""
        try:
            facts = self.call(lambda redis: redis.xinfo_stream(self.name))
        except redis_errors.ResponseError as error:
            if "no such key" in str(error):
                return None
            raise Problem(f"{self.url}: not a stream ({error}); name another one") from error
        found, sequence = numbers(facts["last-generated-id"])
        if not (found or sequence):
            return None
        last = facts.get("last-entry")
        writer = ""
        if last and last[1]:
            message = decoded(dict(last[1]).get(FIELD, b""), self.url)
            writer = message.writer
        return Present(found, sequence, writer, int(facts.get("entries-added", 0)))

    def send(self, messages: Sequence[Waiting], epoch: int) -> Places:
        """Return when all are there. Raises: LostError, StreamError where another sender has taken the stream over."""
        generation = self._client.epoch

        async def pipeline(redis: Any) -> list[Any]:
            with self._client.only_in(generation):
                return await self._pipeline(redis, messages, epoch)

        try:
            answers = self.call(pipeline)
        except ServerRestarted:
            raise LostError from None
        for answer in answers:
            if isinstance(answer, Exception) and "equal or smaller" not in str(answer):
                raise Problem(f"{self.url}: refuses a message ({answer}); nothing of it is lost; check the server")
        if any(isinstance(answer, Exception) for answer in answers):
            there = self.present(epoch, {})
            if there is None or there.epoch != epoch:
                raise LostError  # it was emptied, or taken over: whoever sends looks at it again
        return {0: (messages[-1].sequence, -1)}

    async def _pipeline(self, redis: Any, messages: Sequence[Waiting], epoch: int) -> list[Any]:
        pipe = redis.pipeline(transaction=False)
        for one in messages:
            name = f"{epoch}-{one.sequence}"
            if one.kind in FOR_GOOD:
                pipe.xadd(self.name + OF_WITHDRAWALS, {FIELD: one.body}, id=name)
            pipe.xadd(self.name, {FIELD: one.body}, id=name)
            if one.kind == BEGIN:  # all of it comes again; a text that is withdrawn later must not stay before it
                pipe.xtrim(self.name, minid=f"{epoch}-0", approximate=False)
            if one.kind in FOR_GOOD and (erased := decoded(one.body, self.url).erased):
                pipe.xdel(self.name, *(f"{epoch}-{sequence}" for sequence in erased))
        answers = list(await pipe.execute(raise_on_error=False))
        for answer in answers:
            if isinstance(answer, Exception) and is_outage(answer):
                raise answer  # full, or without its master: all are sent again then
        return answers

    def trim(self, epoch: int) -> int | None:
        """Drop what every consumer group has read and acknowledged; without a group nothing is dropped."""
        try:
            groups = self.call(lambda redis: redis.xinfo_groups(self.name))
        except redis_errors.ResponseError:
            return None
        if not groups:
            return None
        least = min(self._needed(group) for group in groups)
        if least == (0, 0):
            return None
        self.call(lambda redis: redis.xtrim(self.name, minid=f"{least[0]}-{least[1]}", approximate=False))
        return least[1] if least[0] == epoch else None

    def _needed(self, group: dict[str, Any]) -> tuple[int, int]:
        """The first id that a group may still ask for."""
        if not group["pending"]:
            return numbers(group["last-delivered-id"])
        waiting = self.call(lambda redis: redis.xpending(self.name, group["name"]))
        return numbers(waiting["min"] or group["last-delivered-id"])


def numbers(name: bytes | str) -> tuple[int, int]:
    """Epoch and sequence of an id."""
    text = name.decode() if isinstance(name, bytes) else name
    epoch, _, sequence = text.partition("-")
    return int(epoch), int(sequence or 0)
