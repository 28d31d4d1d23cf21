"""Where things lie: the project, and the public data that is not part of it."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SHARED_DATA = Path(os.environ.get("CRAWLER_SHARED_DATA") or PROJECT.parent / "shared" / "data")
"""Labelled and public test data; what needs them says so where they are absent."""
