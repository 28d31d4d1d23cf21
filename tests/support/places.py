"""Where things lie: the project, and the public data that is not part of it."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
TESTS = PROJECT / "tests"
SHARED_DATA = Path(os.environ.get("CRAWLER_SHARED_DATA") or PROJECT.parent / "shared" / "data")
WITHOUT_SHARED_DATA = f"public test data is absent: {SHARED_DATA} (set CRAWLER_SHARED_DATA)"
