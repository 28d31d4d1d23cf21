"""Where the public test data lies: beside the checkout, or where CRAWLER_SHARED_DATA says."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def crawler_commons() -> Path:
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("CRAWLER_SHARED_DATA", default)) / "crawler-commons"
    if not folder.is_dir():
        pytest.skip(f"public test data not found at {folder}; set CRAWLER_SHARED_DATA")
    return folder
