"""One copy of the project for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.copied import Copied


@pytest.fixture
def copied(tmp_path: Path) -> Copied:
    (tmp_path / "project").mkdir()
    return Copied(tmp_path / "project")
