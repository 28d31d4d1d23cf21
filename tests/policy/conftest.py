"""Where the public data lies; tests that need it skip where it is absent (a public clone)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    root = Path(__file__).resolve().parents[2]
    folder = Path(os.environ.get("CRAWLER_SHARED_DATA") or root.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"public test data is absent: {folder} (set CRAWLER_SHARED_DATA)")
    return folder
