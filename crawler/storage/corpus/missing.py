"""Before a crawl adds to a corpus: is everything still there that its manifest lists? Names and sizes only.

A ledger that has gone is worse than a file: the next merge would list nothing of it, and nobody knew what was spent.
"""

from __future__ import annotations

import logging

from crawler.number import number_of
from crawler.storage.corpus.manifest import REWRITER
from crawler.storage.corpus.version import is_made_of_others
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import LEDGERS, MANIFEST, Place
from crawler.storage.types import Manifest, Run

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
    for sentence in missing_ledgers(place):
        logger.warning("%s: %s", place.url, sentence)


def writer_of(run: Run) -> str:
    """The writer whose ledger a run stands in."""
    return f"{run['crawl_id']}-{run['worker_id']}"


def writers_named(manifest: Manifest) -> set[str]:
    """Writers whose ledgers made this manifest: of its files, its versions, and its runs. A corpus that was made of
    others has one writer, and lists the runs of its sources."""
    found = {entry["writer"] for entry in manifest["files"]}
    found |= {f"{REWRITER}{step['version']:04d}" for step in manifest.get("lineage", [])}
    made_of_others = any(is_made_of_others(run) for run in manifest["runs"])
    return found if made_of_others else found | {writer_of(run) for run in manifest["runs"]}


def missing_ledgers(place: Place) -> list[str]:
    """A sentence on each ledger of a local corpus that its manifest was made of, and that is not there.

    Raises: StorageError where the manifest cannot be read.
    """
    if place.remote or not (place.root / MANIFEST).exists():
        return []
    named, present = writers_named(place.manifest()), set(place.listing(LEDGERS))
    return [
        f"{LEDGERS}/{name}: missing, with what its runs were and have spent; restore it from a copy, or run `gristmill "
        f"dataset repair {place.url}` before anything else: {MANIFEST} still knows it"
        for name in (f"{writer}.json" for writer in sorted(named))
        if name not in present
    ]


def check_ledgers(place: Place) -> None:
    """Before anything is merged anew. Raises: StorageError where a ledger is missing."""
    if missing := missing_ledgers(place):
        raise StorageError(f"{place.url}: {missing[0]}")


def _size(place: Place, path: str) -> int:
    try:
        return (place.root / path).stat().st_size
    except OSError:
        return -1
