"""The registry names every version of a folder of documents, by the SHA-256 of its manifest, and never changes one.

One file a version, `registry/<sha256>.json`, in the folder itself; a tag is a numbered file that is created and never
written again, so of two writers none loses what the other wrote (docs/adr/storage-005-registry.md). A folder that was
derived from another one is noted there, under `registry/derived/`, so that a withdrawal finds it.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any, NotRequired, TypedDict, cast

from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import indented
from crawler.storage.files.place import REGISTRY, Place

VERSION_FORMAT = "crawler-version/1"
HERE = "."
"""The place of a parent that is an earlier version of the same folder."""
TAGS, DERIVED = f"{REGISTRY}/tags", f"{REGISTRY}/derived"
SHORTEST = 6
"""Characters of a version's hash from which it may be cut."""
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{6,64}")
_HASH_FILE = re.compile(r"([0-9a-f]{64})\.json")
_TAG_FILE = re.compile(r"(.{1,64})\.(\d{6})\.json")


class Parent(TypedDict):
    """What a version was made of. place: `.` for this folder, a path from this folder, a URL; empty if not known."""

    sha256: str
    place: str


class DataFile(TypedDict):
    """A file of documents of a version. path: in the folder."""

    path: str
    sha256: str
    documents: int


class Version(TypedDict):
    """One version. number: of a corpus, counted by its manifest. software: empty where nobody noted it at the time."""

    format: str
    sha256: str
    manifest: str
    number: NotRequired[int]
    runs: NotRequired[int]
    operation: str
    time: str | None
    parents: list[Parent]
    parameters: dict[str, Any]
    software: dict[str, str]
    config_digests: list[str]
    counts: dict[str, int]
    files: list[DataFile]


class Tag(TypedDict):
    """What a tag names. number: how often it was set, from 1."""

    name: str
    sha256: str
    time: str
    number: int


class Child(TypedDict):
    """A folder that was derived from this one: its version, and where it was written."""

    sha256: str
    place: str
    operation: str


class Registry:
    """The registry of one folder, local or at an fsspec URL. Reading it writes nothing."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def versions(self) -> dict[str, Version]:
        """Every version that was noted, by hash. Raises: StorageError where a file is no version."""
        found = (_HASH_FILE.fullmatch(name) for name in self._place.listing(REGISTRY))
        return {match[1]: self._version(match[1]) for match in found if match}

    def add(self, version: Version) -> bool:
        """Note a version; False where it is there already. Raises: StorageError."""
        return self._place.create(f"{REGISTRY}/{version['sha256']}.json", indented(version))

    def tags(self) -> dict[str, Tag]:
        """Every tag by name, as it was set last. Raises: StorageError."""
        last: dict[str, int] = {}
        for match in map(_TAG_FILE.fullmatch, self._place.listing(TAGS)):
            if match:
                last[match[1]] = max(last.get(match[1], 0), int(match[2]))
        return {name: self._tag(name, number) for name, number in sorted(last.items())}

    def set_tag(self, name: str, sha256: str, *, time: str, move: bool = False) -> Tag:
        """Let a tag name a version. Raises: StorageError where it names another one already, unless `move` says so,
        where the name cannot be one, or where somebody else set it at the same moment.
        """
        if not is_tag(name):
            raise StorageError(
                f"{name!r} cannot be a tag: expected a letter, then up to 63 letters, digits, '.', '_' or '-', and "
                "no word that reads as a hash"
            )
        known = self.tags().get(name)
        if known and known["sha256"] == sha256:
            return known
        if known and not move:
            raise StorageError(
                f"{self._place.url}: the tag {name!r} names {known['sha256'][:12]} since {known['time']}; --move lets "
                f"it name {sha256[:12]}"
            )
        tag: Tag = {"name": name, "sha256": sha256, "time": time, "number": known["number"] + 1 if known else 1}
        if not self._place.create(_tag_path(name, tag["number"]), indented(tag)):
            raise StorageError(
                f"{self._place.url}: another process set the tag {name!r} at the same moment; check "
                f"`gristmill dataset log {self._place.url}` and run the same command again"
            )
        return tag

    def children(self) -> list[Child]:
        """The folders that were derived from this one. Raises: StorageError."""
        names = [name for name in self._place.listing(DERIVED) if name.endswith(".json")]
        return [cast("Child", self._json(f"{DERIVED}/{name}", ("sha256", "place", "operation"))) for name in names]

    def add_child(self, child: Child) -> None:
        """Note a derived folder. Raises: StorageError."""
        self._place.create(child_path(child), indented(child))

    def _version(self, sha256: str) -> Version:
        found = self._json(f"{REGISTRY}/{sha256}.json", ("format", "sha256", "operation", "parents", "files"))
        if found["format"] != VERSION_FORMAT or found["sha256"] != sha256:
            raise StorageError(
                f"{self._place.path_of(f'{REGISTRY}/{sha256}.json')}: format {found['format']!r} of "
                f"{found['sha256']!r} instead of {VERSION_FORMAT!r}; restore the file from a copy"
            )
        return cast("Version", found)

    def _tag(self, name: str, number: int) -> Tag:
        return cast("Tag", self._json(_tag_path(name, number), ("name", "sha256", "time", "number")))

    def _json(self, path: str, names: tuple[str, ...]) -> dict[str, Any]:
        content = self._place.load_json(path)
        if not isinstance(content, dict) or not content.keys() >= set(names):
            raise StorageError(
                f"{self._place.path_of(path)}: expected an object with {', '.join(names)}; restore the file from a copy"
            )
        return content


def is_tag(name: str) -> bool:
    """True for a name that a tag may have."""
    return bool(_TAG.fullmatch(name)) and not _HASH.fullmatch(name)


def child_path(child: Child) -> str:
    """The file in which a folder notes this one: one for each version and place."""
    where = hashlib.sha256(child["place"].encode()).hexdigest()[:8]
    return f"{DERIVED}/{child['sha256']}-{where}.json"


def place_from(folder: str, other: str) -> str:
    """How `folder` names the place `other`: a path from it where both are on this machine, so that both may move."""
    if "://" in other:
        return other
    return os.path.abspath(other) if "://" in folder else os.path.relpath(other, folder)  # noqa: PTH100  # may be gone


def place_of(folder: str, place: str) -> str:
    """The path or URL that `place_from` wrote, seen from here."""
    if "://" in place or "://" in folder or os.path.isabs(place):  # noqa: PTH117
        return place
    return os.path.normpath(os.path.join(folder, place))  # noqa: PTH118  # a path as a person gave it, perhaps gone


def _tag_path(name: str, number: int) -> str:
    return f"{TAGS}/{name}.{number:06d}.json"
