"""What a task has made: whether it stands whole, and which versions its corpora have."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

from crawler.plan.model import Task
from crawler.storage.corpus.registry import Registry
from crawler.storage.corpus.version import manifest_hash
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place


def versions(paths: Iterable[str]) -> dict[str, str]:
    """The version that stands at each of these paths, where there is a corpus, an export or a mixture."""
    return {path: found for path in paths if (found := _version(path))}


def is_whole(task: Task) -> bool:
    """True where everything that the task makes stands, is registered, and is known where it came from.

    Of a file, or of a folder that nothing registers, nobody can know that: it is made again.
    """
    for output in task.outputs:
        try:
            known = Registry(Place(output)).versions()
            sha256 = _version(output)
            children = [child for path in task.inputs for child in Registry(Place(path)).children()]
        except StorageError:
            return False
        if sha256 not in known or (task.inputs and sha256 not in {child["sha256"] for child in children}):
            return False
    return bool(task.outputs)


def is_there(path: str) -> bool:
    """True where something has this name, also an empty folder."""
    if "://" in path:
        return bool(Place(path).listing(""))
    return Path(path).exists() or Path(path).is_symlink()


def remove(path: str) -> None:
    """Take away what a task that was cut off has left. Raises: StorageError where it is not on this machine."""
    if "://" in path:
        raise StorageError(
            f"{path}: a task that was cut off has left something here: remove it, and run the plan again"
        )
    where = Path(path)
    if where.is_dir() and not where.is_symlink():
        shutil.rmtree(where)
    else:
        where.unlink(missing_ok=True)


def _version(path: str) -> str:
    """The version whose manifest stands there as it was registered, or the corpus that nothing has registered yet."""
    try:
        place = Place(path)
        for version in sorted(Registry(place).versions().values(), key=lambda one: one["time"] or "", reverse=True):
            if _hash_of(place, version["manifest"]) == version["sha256"]:
                return version["sha256"]
        return manifest_hash(place)
    except StorageError:
        return ""


def _hash_of(place: Place, name: str) -> str:
    try:
        return hashlib.sha256(place.content(name)).hexdigest()
    except OSError:
        return ""
