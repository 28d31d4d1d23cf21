"""Behind the stages: the duplicate index in Redis or Valkey, one Lua script a question.

Keys start with `{dedup:crawl:<CRAWL_ID>}` or, with `DEDUP_SCOPE=all`, `{dedup:all}`: one hash tag, and nothing outside
it is read, written or flushed. Bands lie in bucketed small hashes, signatures side by side in strings and URLs in
lists of `_CHUNK`, because a key of its own for each would cost several times the memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import redis.asyncio
from redis import exceptions as errors

from crawler.config import DedupConfig
from crawler.pipelines.dedup_index import (
    IndexUnavailableError,
    NearMatch,
    Scheme,
    exact_bucket,
    needed_agreement,
    question,
    similarity,
)

logger = logging.getLogger(__name__)

_CHUNK = 64
_LONGEST_PAUSE = 5.0  # seconds between two tries while the server is away
_SOCKET_TIMEOUT = 10.0  # seconds
_LUA = Path(__file__).parent / "lua"
_AWAY = (errors.ConnectionError, errors.TimeoutError, errors.ReadOnlyError, errors.OutOfMemoryError,
         errors.ClusterDownError, errors.TryAgainError)  # fmt: skip
_AWAY_CODES = ("MISCONF", "OOM", "LOADING", "NOREPLICAS", "BUSY ", "MASTERDOWN")


class RedisIndex:
    """The index all workers share. A server that goes away is waited for; asking again after a lost answer is safe."""

    def __init__(
        self,
        url: str,
        config: DedupConfig,
        *,
        crawl_id: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._scheme = Scheme.of(config)
        self._min_shingles = config.min_shingles
        self._needed = needed_agreement(config.threshold, self._scheme.permutations)
        self._prefix = "{dedup:all}" if config.scope == "all" else f"{{dedup:crawl:{crawl_id}}}"
        self._sleep = sleep
        self.client = redis.asyncio.Redis.from_url(
            f"redis{url.removeprefix('valkey')}" if url.startswith("valkey") else url,
            socket_timeout=_SOCKET_TIMEOUT,
            socket_connect_timeout=_SOCKET_TIMEOUT,
        )
        self._scripts = {
            name: self.client.register_script((_LUA / f"{name}.lua").read_text("utf-8"))
            for name in ("open", "exact", "near")
        }

    async def open(self) -> None:
        """Claim the keys for our scheme. Raises: SchemeMismatchError; IndexUnavailableError where nobody answers."""
        try:
            stored = await self._scripts["open"](keys=[f"{self._prefix}:scheme"], args=[self._scheme.to_json()])
        except (errors.RedisError, OSError) as error:
            raise IndexUnavailableError(
                f"the duplicate index does not answer ({error}): start the server, or correct DEDUP_REDIS_URL or "
                "REDIS_URL"
            ) from error
        self._scheme.check(stored.decode())

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    async def check_exact(self, doc_id: str, owner_url: str) -> str | None:
        """See `DedupIndex`."""
        bucket, field = exact_bucket(doc_id, self._scheme.bucket_bits)
        keys = [f"{self._prefix}:e:{bucket:x}", f"{self._prefix}:exact-count"]
        owner = await self._ask("exact", keys, [field, owner_url, f"{self._prefix}:eu:", _CHUNK])
        return owner.decode() if owner else None

    async def check_near(self, signature: bytes, shingles: int, owner_url: str) -> NearMatch | None:
        """See `DedupIndex`."""
        if shingles < self._min_shingles:
            return None
        asked = question(signature, self._scheme)
        keys = [f"{self._prefix}:near-count"]
        keys += [f"{self._prefix}:b:{band:x}:{bucket:x}" for band, (bucket, _) in enumerate(asked.bands)]
        args: list[Any] = [
            asked.signature,
            owner_url,
            self._needed,
            f"{self._prefix}:nu:",
            f"{self._prefix}:ns:",
            _CHUNK,
        ]
        answer = await self._ask("near", keys, args + [rest for _, rest in asked.bands])
        return NearMatch(answer[0].decode(), similarity(answer[1], self._scheme.permutations)) if answer else None

    async def _ask(self, name: str, keys: list[str], args: list[Any]) -> Any:
        """Run a script, for as long as it takes: a verdict cannot be guessed, and a page must not be lost."""
        pause = 0.05
        while True:
            try:
                return await self._scripts[name](keys=keys, args=args)
            except (errors.RedisError, OSError) as error:
                if not _is_away(error):
                    raise
                if pause < 0.1:
                    logger.warning("the duplicate index does not answer (%s); waiting for it", type(error).__name__)
            await self._sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _is_away(error: Exception) -> bool:
    """The server is gone, loading, full or without its master: all of these pass. Anything else is our mistake."""
    if isinstance(error, errors.AuthenticationError):
        return False
    return isinstance(error, (*_AWAY, OSError)) or str(error).startswith(_AWAY_CODES)
