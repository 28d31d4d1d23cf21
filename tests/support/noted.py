"""What the registry says of the version that a corpus is now."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson


def manifest_hash(corpus: Path) -> str:
    """Name of the version: the hash of its manifest."""
    return hashlib.sha256((corpus / "manifest.json").read_bytes()).hexdigest()


def noted(corpus: Path, before: str) -> dict[str, Any]:
    """The note of the version that came after `before`; fails where nobody noted it, or of something else."""
    after = manifest_hash(corpus)
    assert after != before, "nothing has changed"
    found: dict[str, Any] = orjson.loads((corpus / "registry" / f"{after}.json").read_bytes())
    assert [parent["sha256"] for parent in found["parents"]] == [before]
    assert found["software"]["crawler"]
    return found
