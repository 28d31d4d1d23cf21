"""A version is found by hash, by the beginning of one, or by a tag."""

from __future__ import annotations

from crawler.dataset.registry.derived import standing_hash, versions_in
from crawler.storage.corpus.registry import SHORTEST, Registry, Version
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place


def newest_first(place: Place) -> list[Version]:
    """Every version of a folder. Raises: StorageError."""
    versions, order = versions_in(place), dict[str, int]()

    def depth(sha256: str, seen: frozenset[str] = frozenset()) -> int:
        if sha256 not in order:
            here = [
                p["sha256"] for p in versions[sha256]["parents"] if p["sha256"] in versions.keys() - seen - {sha256}
            ]
            order[sha256] = 1 + max((depth(parent, seen | {sha256}) for parent in here), default=0)
        return order[sha256]

    return sorted(versions.values(), key=lambda v: (depth(v["sha256"]), v["time"] or "~"), reverse=True)


def named(place: Place, name: str) -> Version:
    """The version of this tag, or whose hash is or begins with `name`; empty: the one that stands.

    Raises: StorageError where there is none, or more than one.
    """
    versions, tags = versions_in(place), Registry(place).tags()
    name = name or standing_hash(place)
    if name in tags:
        name = tags[name]["sha256"]
    found = [version for sha256, version in versions.items() if sha256.startswith(name)]
    if len(found) == 1 and len(name) >= SHORTEST:
        return found[0]
    if len(name) < SHORTEST or not found:
        known = ", ".join(tags) or "no tag"
        raise StorageError(
            f"{place.url}: no version or tag {name!r}; expected a tag ({known}) or at least {SHORTEST} characters of a "
            f"hash that `gristmill dataset log {place.url}` lists"
        )
    raise StorageError(f"{place.url}: {len(found)} versions begin with {name!r}; give more characters of the hash")
