"""A Valkey of its own for the tests that need one, and the default parameters."""

import pytest

from crawler.config import from_mapping
from crawler.server.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def valkey_url(tmp_path_factory):
    with EmbeddedServer(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
def dedup_config():
    return from_mapping({}).dedup
