"""A real Valkey per test process, a fresh crawl per test, and a clock the tests own."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable, Iterator

import pytest

from crawler.frontier.client import Frontier
from crawler.frontier.model import Limits
from crawler.server.embedded import EmbeddedServer

_serial = itertools.count()


class FakeClock:
    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedServer(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
def crawl_name() -> str:
    return f"t{os.getpid()}-{next(_serial)}"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def frontier_run(valkey_url: str, crawl_name: str, clock: FakeClock) -> Callable[..., None]:
    """Run an async scenario against an open Frontier: `frontier_run(scenario, **limits)`."""

    def run(scenario: Callable[[Frontier], Awaitable[None]], **limits: object) -> None:
        async def main() -> None:
            frontier = Frontier(valkey_url, crawl_name, Limits(**limits), now=clock)  # type: ignore[arg-type]
            await frontier.open()
            try:
                await scenario(frontier)
            finally:
                await frontier.close()

        asyncio.run(main())

    return run
