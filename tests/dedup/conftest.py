"""The default parameters of the duplicate index."""

import pytest

from crawler.config import from_mapping


@pytest.fixture
def dedup_config():
    return from_mapping({}).dedup
