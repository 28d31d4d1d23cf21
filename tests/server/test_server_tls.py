"""A server behind TLS: `rediss://`, with the authority that signed its certificate named in the address."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.config import from_mapping
from crawler.dedup.index import IndexUnavailableError
from crawler.dedup.make import make_index
from crawler.server.connection import Connection
from crawler.server.errors import FrontierUnavailable
from tests.support.tls import Secured, behind_tls


@pytest.fixture
def secured(redis_url: str, tmp_path: Path) -> Iterator[Secured]:
    with behind_tls(redis_url, tmp_path) as found:
        yield found


def test_a_frontier_behind_tls_is_trusted_by_the_authority_that_the_address_names(secured: Secured) -> None:
    async def scenario() -> None:
        connection = Connection(f"{secured.url}?ssl_ca_certs={secured.authority}")
        await connection.open()
        assert await connection.redis.set("key", 1)
        await connection.close()

    asyncio.run(scenario())


def test_a_certificate_that_nobody_vouches_for_is_told_with_the_way_out(secured: Secured) -> None:
    async def frontier() -> None:
        await Connection(secured.url).open()

    async def index() -> None:
        await make_index(from_mapping({"DEDUP_REDIS_URL": secured.url})).open()

    for opened, error in ((frontier, FrontierUnavailable), (index, IndexUnavailableError)):
        with pytest.raises(error, match=r"answers, but its certificate is not trusted .*\?ssl_ca_certs=") as told:
            asyncio.run(opened())
        assert "start" not in str(told.value).split("certificate", 1)[1], "it runs"
