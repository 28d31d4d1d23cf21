"""Part of `gristmill dataset verify`: which files lie beside those that the manifest lists, and whose are they?

A reader who takes `shards/*.jsonl.zst` takes them all, so a file that nobody lists changes what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from crawler.number import number_of
from crawler.storage.archive.cdxj import is_archive
from crawler.storage.corpus.manifest import REWRITER, ledgers_of
from crawler.storage.corpus.recovery import local_names, lock_of, owner_of
from crawler.storage.files.formats import suffixes
from crawler.storage.files.place import SHARDS, Place
from crawler.storage.types import Manifest

_GROWING = (".part", ".tmp")
"""Ends of the names of files in progress, which no reader takes."""


@dataclass(slots=True)
class Beside:
    """Paths of unlisted files: `strangers` bear no worker's name, `unfinished` are what recovery will finish."""

    strangers: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)


def files_at_rest(place: Place) -> Beside:
    """The files of a corpus, listed or not, without those of a worker that is or may be at work.

    An object store has no locks: there a worker whose run has no end may be at work, and so may any rewrite.
    Look before the manifest is read: what a worker lists and leaves meanwhile is in the manifest then.
    """
    found = Beside()
    is_live = _open_in_store(place) if place.remote else cache(lambda owner: lock_of(place, owner).is_held())
    for folder in place.folders():
        for name in place.listing(folder) if place.remote else local_names(place, folder):
            owner, path = owner_of(name), f"{folder}/{name}"
            if owner is None:
                found.strangers += [path] if _is_read(name) else []
            elif not is_live(owner):
                found.unfinished.append(path)
    return found


def _open_in_store(place: Place) -> Callable[[str], bool]:
    at_work = {ledger["writer"] for ledger in ledgers_of(place) if any(run["ended"] is None for run in ledger["runs"])}
    return lambda owner: owner in at_work or owner.startswith(REWRITER)


def without_listed(found: Beside, manifest: Manifest) -> Beside:
    """Those of the files that the manifest does not list."""
    listed = {entry["path"] for entry in manifest["files"]}
    return Beside(
        [path for path in found.strangers if path not in listed],
        [path for path in found.unfinished if path not in listed],
    )


def problems_beside(found: Beside) -> list[str]:
    """What falsifies what a reader of the folder sees, one sentence each."""
    problems = [
        f"{path}: not in the manifest, but readers of {path.rpartition('/')[0]}/* find it; move it out of the corpus"
        for path in found.strangers
    ]
    if sealed := [path for path in found.unfinished if not path.endswith(_GROWING)]:
        files = number_of(len(sealed), "file")
        problems.append(f"{files} in no manifest, such as {sealed[0]}: a worker or a rewrite died before it listed or "
                        "removed them; use --fix")  # fmt: skip
    return problems


def notes_beside(found: Beside) -> list[str]:
    """What a dead worker left in progress, where there is something: it is no fault, and nothing of it is lost."""
    if not (growing := [path for path in found.unfinished if path.endswith(_GROWING)]):
        return []
    files = number_of(len(growing), "unfinished file")
    return [
        f"{files} of workers that died, such as {growing[0]}: not counted; the next crawl into this folder finishes "
        "what is there, --fix does it now"
    ]


def outdated(place: Place) -> Iterator[str]:
    """A sentence on the published documents and one on the report, where they describe other shards than these.

    Raises: StorageError where there is no corpus, or a description is not JSON.
    """
    shards = [entry for entry in place.manifest()["files"] if entry["kind"] == SHARDS]
    published, report = place.load_json("croissant.json"), place.load_json("stats.json")
    stands = {(entry["path"], entry["sha256"]) for entry in shards}
    if isinstance(published, dict) and described_files(published) != stands:
        yield (
            "eu_summary.*, croissant.json and README.md describe an older state of the corpus: "
            f"`gristmill report --eu {place.url}` writes them again"
        )
    if isinstance(report, dict):
        counts = (sum(entry["documents"] for entry in shards), sum(entry.get("words", 0) for entry in shards))
        if (report.get("kept"), report.get("words")) != counts:
            yield (
                "report.html and stats.json describe an older state of the corpus: "
                f"`gristmill report --html {place.url}` writes them again"
            )


def described_files(published: Any) -> set[tuple[Any, Any]]:
    """Path and hash of the files that a Croissant description lists, each by itself; people may have changed it."""
    listed = published.get("distribution") if isinstance(published, dict) else None
    files = listed if isinstance(listed, list) else []
    found = [file for file in files if isinstance(file, dict) and "contentUrl" in file]
    return {(file["contentUrl"], file.get("sha256")) for file in found}


def _is_read(name: str) -> bool:
    return not name.startswith(".") and (name.endswith(suffixes()) or is_archive(name))
