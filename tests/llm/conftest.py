"""A server that speaks every protocol, and files of prices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.models import ModelServer, Script


@pytest.fixture
def serve() -> Iterator[Callable[[Script], ModelServer]]:
    servers: list[ModelServer] = []

    def start(script: Script) -> ModelServer:
        servers.append(ModelServer(script).start())
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def prices(tmp_path: Path) -> Callable[..., str]:
    """A file with one price for every model called small."""

    def write(sent: float = 1_000, got: float = 10_000, currency: str = "EUR") -> str:
        models = "".join(
            f"  {each}:small: {{input: {sent}, output: {got}}}\n" for each in ("anthropic", "google", "openai")
        )
        path = tmp_path / f"prices-{currency}.yaml"
        path.write_text(f"date: 2026-01-01\ncurrency: {currency}\nmodels:\n{models}")
        return str(path)

    return write
