"""The duplicate index in Redis or Valkey; one Lua script answers all questions that wait.

Keys start with `{dedup:crawl:<CRAWL_ID>}` or, with `DEDUP_SCOPE=all`, `{dedup:all}`: one hash tag, and nothing outside
it is read, written or flushed. `lua/check.lua` says how they are laid out: digests and bands in small hashes that are
split as the index grows; signatures, URLs and counts 64 to a key, because a key for each would cost several times the
memory.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from redis import exceptions as errors

from crawler.config import DedupConfig
from crawler.dedup.claims import GRACE_SECONDS, Claims, Question
from crawler.dedup.index import IndexUnavailableError, Match, Questions, similarity
from crawler.server.batching import Batcher
from crawler.server.client import KEEPS_EVERYTHING, Script, ServerClient
from crawler.server.errors import untrusted, unwritable

_CHUNK = 64  # owners a list, signatures a string, counts a string
_AT_ONCE = 64  # questions a call: the server answers nobody else meanwhile
_KEYS_AT_ONCE = 256  # reads a round trip where the whole index is walked
_LUA = Path(__file__).parent / "lua"


class RedisIndex:
    """The index all workers share. A server that goes away is waited for; asking again after a lost answer is safe.

    Questions that wait at the same moment travel together, so many at once cost little more than one.
    """

    def __init__(
        self,
        url: str,
        config: DedupConfig,
        *,
        crawl_id: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        grace: float = GRACE_SECONDS,
        alone: Callable[[], str] = str,
    ) -> None:
        self._questions = Questions(config)
        scheme = self._questions.scheme
        self._permutations = scheme.permutations
        self._prefix = "{dedup:all}" if config.scope == "all" else f"{{dedup:crawl:{crawl_id}}}"
        self._head = [scheme.bands, scheme.permutations, _CHUNK]
        self._layout = struct.Struct(f"<{scheme.bands}I")
        self._server = ServerClient(url, "the server of the duplicate index", sleep=sleep)
        self._grace = grace
        self._alone = alone
        self._claims = Claims(self._server.epochs, self._ask, self._server.answers, grace=grace)
        self._batch: Batcher[Question, Any] = Batcher(self._claims.ask, _AT_ONCE)

    @property
    def client(self) -> Any:
        """redis-py's client, for commands."""
        return self._server.redis

    @property
    def away_seconds(self) -> float:
        """For how long some question has been waiting for a server that is away; 0 where none does."""
        return self._server.away_seconds

    async def open(self) -> None:
        """Claim the keys for our scheme. Raises: SchemeMismatchError, IndexUnavailableError."""
        for name in ("check", "release"):
            _source(name)  # a worker without a file descriptor left could not read them
        try:
            await self._look_at_server()
            stored = await self._server.script_once(_source("open"), self._prefix, [self._questions.scheme.to_json()])
            self._questions.scheme.check(stored.decode())
            await self._let_others_repeat()
        except (errors.RedisError, OSError) as error:
            if why := unwritable(error) or untrusted(error):
                raise IndexUnavailableError(f"the server of the duplicate index {why}") from error
            raise IndexUnavailableError(
                f"the duplicate index does not answer ({error}): start the server, or correct DEDUP_REDIS_URL or "
                "REDIS_URL"
            ) from error

    async def _look_at_server(self) -> None:
        await self._server.await_loaded()
        policy = await self._server.eviction_policy()
        if policy != KEEPS_EVERYTHING:
            raise IndexUnavailableError(
                f"the server of the duplicate index has maxmemory-policy {policy}: under memory pressure it would "
                "evict claims; run CONFIG SET maxmemory-policy noeviction, or set DEDUP_REDIS_URL to another one"
            )
        await self._server.join_cluster()

    async def _let_others_repeat(self) -> None:
        """A server that has just been started may have forgotten what other workers claimed last, if there are any."""
        server = await self.client.info("server")
        if server.get("run_id") == self._alone():
            return
        uptime = float(server.get("uptime_in_seconds", self._grace))
        if uptime < self._grace and await self.client.exists(f"{self._prefix}:count"):
            self._claims.be_quiet(self._grace - uptime)

    async def close(self) -> None:
        """Close the connections."""
        await self._claims.close()
        await self._server.close()

    async def check(self, doc_id: str, signature: bytes, shingles: int, owner_url: str) -> Match | None:
        """See `DedupIndex`."""
        asked = self._questions.about(doc_id, signature, shingles)
        packed = self._layout.pack(*asked.bands) if asked.bands else b""
        return self._match(await self._batch([owner_url, asked.digest, asked.signature, packed, asked.needed]))

    async def confirm(self, owner_url: str) -> Match | None:
        """See `DedupIndex`."""
        return self._match(await self._claims.lost(owner_url))

    def _match(self, answer: Any) -> Match | None:
        if not answer:
            return None
        owner, agreeing = answer
        exact = agreeing < 0
        return Match(owner.decode(), 1.0 if exact else similarity(agreeing, self._permutations), exact)

    async def _ask(self, questions: Sequence[Question]) -> list[Any]:
        answers: list[Any] = []
        for start in range(0, len(questions), _AT_ONCE):
            part = questions[start : start + _AT_ONCE]
            args = [*self._head, *(value for question in part for value in question)]
            answers += await self._server.script(_source("check"), self._prefix, args)
        return answers

    async def release(self, digest: bytes, owner_url: str) -> int | None:
        """See `DedupIndex`."""
        turned_away = await self._server.script(_source("release"), self._prefix, [_CHUNK, owner_url, digest])
        return None if turned_away < 0 else int(turned_away)

    async def forget(self, owners: Collection[str]) -> int:
        """See `DedupIndex`. Walks all owners: a withdrawal is rare, an index by URL would cost every document."""
        wanted, freed = {owner.encode() for owner in owners} - {b""}, 0
        async for numbers in self._chunks():
            lists = await self._read([("LRANGE", f"{self._prefix}:u:{n}", 0, -1) for n in numbers])
            found = [(n, i) for n, urls in zip(numbers, lists, strict=True) for i, u in enumerate(urls) if u in wanted]
            freed += len(found)
            await self._read([("LSET", f"{self._prefix}:u:{n}", i, "") for n, i in found])
            await self._read([("BITFIELD", f"{self._prefix}:d:{n}", "SET", "u32", f"#{i}", 0) for n, i in found])
        return freed

    async def _chunks(self) -> AsyncIterator[range]:
        """The numbers of all lists, some at a time."""
        count = int(await self._server.patiently(lambda: self.client.get(f"{self._prefix}:count")) or 0)
        for first in range(0, -(-count // _CHUNK), _KEYS_AT_ONCE):
            yield range(first, min(first + _KEYS_AT_ONCE, -(-count // _CHUNK)))

    async def _read(self, commands: list[tuple[Any, ...]]) -> list[Any]:
        """The answers of commands sent in one go."""

        async def call() -> Any:
            pipe = self.client.pipeline(transaction=False)
            for command in commands:
                pipe.execute_command(*command)
            return await pipe.execute()

        return list(await self._server.patiently(call)) if commands else []


@cache
def _source(name: str) -> Script:
    return Script.of((_LUA / f"{name}.lua").read_text("utf-8"))
