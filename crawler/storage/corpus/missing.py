"""Before a crawl adds to a corpus: is everything still there that its manifest lists? Names and sizes only."""

from __future__ import annotations

import logging

from crawler.number import number_of
from crawler.storage.files.place import MANIFEST, Place

logger = logging.getLogger(__name__)


def missing_files(place: Place) -> list[str]:
    """Listed files of a local corpus that are not there, or have another size. Of an object store nothing is asked.

    Raises: StorageError where the manifest cannot be read.
    """
    manifest = None if place.remote else place.load_json(MANIFEST)
    listed = [(entry["path"], entry["bytes"]) for entry in (manifest or {}).get("files", [])]
    return [path for path, size in listed if _size(place, path) != size]


def warn_of_missing_files(place: Place) -> None:
    """Say it once, at the start: the pages in such a file keep their verdicts, and nobody fetches them again."""
    if missing := missing_files(place):
        logger.warning(
            "%s: %s that the manifest lists: missing or incomplete (such as %s). Their pages count as kept or rejected "
            "and are not fetched again; `gristmill dataset verify %s` names each file, restore them from a copy",
            place.url,
            number_of(len(missing), "file"),
            missing[0],
            place.url,
        )


def _size(place: Place, path: str) -> int:
    try:
        return (place.root / path).stat().st_size
    except OSError:
        return -1
