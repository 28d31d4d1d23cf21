"""A list on the server that others read: what is added to it is on the disk when the call returns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from redis.exceptions import ResponseError

from crawler.server.client import ServerClient, shown
from crawler.server.errors import FrontierMisconfigured


async def append(client: ServerClient, key: str, entries: Sequence[bytes]) -> None:
    """Add to the end of a list, and return when the server has it in its file; one that keeps none is not waited for.

    Raises: FrontierMisconfigured where the key holds something else.
    """
    try:
        await client.patiently(lambda: client.redis.rpush(key, *entries))
    except ResponseError as error:
        if "WRONGTYPE" not in str(error):
            raise
        raise FrontierMisconfigured(
            f"Redis key {key} at {shown(client.url)} is no list ({error}); remove what is there, or write to "
            "it yourself where it is a stream"
        ) from error
    with suppress(ResponseError):
        await client.patiently(lambda: client.redis.execute_command("WAITAOF", 1, 0, 0))
