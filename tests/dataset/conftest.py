"""The corpus most operations are tried on."""

import pytest

from tests.support.three_domains import Folder


@pytest.fixture
def corpus(three_domains: Folder) -> Folder:
    return three_domains
