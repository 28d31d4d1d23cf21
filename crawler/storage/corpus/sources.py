"""Hashes the archives that a replay read and that are not this corpus's own: its manifest names them by SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from crawler.storage.archive.names import inside
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, Place
from crawler.storage.types import Manifest


def hashes_of(paths: Iterable[str]) -> dict[str, str]:
    """The hash of each archive on a local disk, as its own corpus's manifest lists it, else of its bytes.

    Paths that are relative, at a URL, or cannot be read any more are left out. Of an archive in a WACZ: of the WACZ.
    """
    found = {}
    for path in paths:
        if path.startswith("/"):
            with suppress(OSError):
                file = Path(inside(path)[0])
                found[path] = _listed(file) or _of_bytes(file)
    return found


def beside(archive: str) -> Place | None:
    """The corpus that an archive lies in, by its path or URL; None where it lies in none, or is somebody else's.

    Raises: StorageError where the URL names no known file system.
    """
    folder = _folder_of(archive)
    return Place(folder) if folder else None


def folders_replayed(manifest: Manifest) -> list[str]:
    """Paths and URLs of the folders of others in whose archives records have their pages."""
    archives = {path for entry in manifest["files"] for path in entry.get("archives", {})}
    return sorted({folder for folder in map(_folder_of, archives) if folder})


def _folder_of(archive: str) -> str:
    folder, found, _ = archive.rpartition(f"/{ARCHIVE}/")
    return folder if found and not folder.startswith(("http://", "https://")) else ""


def _listed(path: Path) -> str | None:
    if path.parent.name != ARCHIVE:
        return None
    with suppress(StorageError):
        for entry in Place(str(path.parent.parent)).manifest()["files"]:
            if entry["path"] == f"{ARCHIVE}/{path.name}" and entry["bytes"] == path.stat().st_size:
                return str(entry["sha256"])
    return None


def _of_bytes(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
