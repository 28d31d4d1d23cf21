"""A folder that was derived of corpora (an export, a mixture, a deduplicated union) is one version with its parents.

It names them by hash and place in its own registry, and each of them is told where it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from crawler.storage.corpus.registry import VERSION_FORMAT, Parent, Registry, Version, place_from
from crawler.storage.corpus.version import data_file, manifest_hash, note_child, register, versions_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import DERIVED, MANIFEST, Place
from crawler.times import rfc3339

SYNTHETIC_MANIFEST = "synthetic.json"
CHUNKS = "chunks.json"
_NO_PARAMETERS = {"format", "files", "source", "sources", "versions", "counts", "targets", "pairs", "corpora", "time",
                  "operation"}  # fmt: skip
_COUNTS = ("documents", "records", "tokens", "withdrawn")


def note_draft(draft: Path, out: str, manifest: str, sources: Mapping[str, str], *, now: float) -> Version:
    """Write the version of a folder that is complete in `draft` and is going to be `out`."""
    content = (draft / manifest).read_bytes()
    parents = [Parent(sha256=sha256, place=place_from(out, place)) for sha256, place in sources.items()]
    version = _described(orjson.loads(content), hashlib.sha256(content).hexdigest(), manifest)
    version |= {"parents": parents, "time": rfc3339(now)}
    Registry(Place(str(draft))).add(version)
    return version


def tell_sources(out: str, version: Version, sources: Mapping[str, str]) -> None:
    """Note in each source what was made of it; a corpus notes the version that was read, too."""
    for sha256, url in sources.items():
        place = Place(url)
        if _manifest_in(place) == MANIFEST:
            register(place, live=True)
        note_child(place, sha256, out, version)


def versions_in(place: Place) -> dict[str, Version]:
    """Every version of a corpus or of a derived folder, by hash; writes nothing. Raises: StorageError."""
    name = _manifest_in(place)
    if name == MANIFEST:
        return versions_of(place)
    known, sha256 = Registry(place).versions(), standing_hash(place)
    return known if sha256 in known else {**known, sha256: _described(place.load_json(name), sha256, name)}


def standing_hash(place: Place) -> str:
    """The version that stands in a corpus or a derived folder. Raises: StorageError where it is neither."""
    name = _manifest_in(place)
    if name == MANIFEST:
        return manifest_hash(place)
    with place.open_listed(name) as file:
        return hashlib.sha256(file.read()).hexdigest()


def manifest_of(place: Place) -> tuple[str, str, dict[str, Any]]:
    """Name, hash and content of the manifest of a derived folder. Raises: StorageError where it cannot be read."""
    name = _manifest_in(place)
    with place.open_listed(name) as file:
        raw = file.read()
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise StorageError(f"{place.path_of(name)}: is not JSON ({error}); restore it from a copy") from error
    _described(content, "", name)  # says what is wrong where it lists no files
    return name, hashlib.sha256(raw).hexdigest(), content


def is_corpus(place: Place) -> bool:
    """True for a corpus, False for a derived folder. Raises: StorageError where it is neither."""
    return _manifest_in(place) == MANIFEST


def version_hash(place: Place, number: int) -> str:
    """The hash of a numbered version of a corpus, as its manifest says it."""
    steps = place.manifest().get("lineage", [])
    return next((s["previous"]["sha256"] for s in steps if s["version"] == number + 1), "") or manifest_hash(place)


def folders_around(paths: Iterable[Path | str]) -> dict[str, str]:
    """The corpora and derived folders that files lie in, by the hash of the version that stands there.

    paths: or URLs.
    """
    found = {}
    for folder in sorted({_above(str(path)) for path in paths}):
        with suppress(StorageError):  # files of others
            found[standing_hash(Place(folder))] = folder
    return found


def _above(path: str) -> str:
    return path.rsplit("/", 2)[0] if "://" in path else str(Path(path).absolute().parent.parent)


def _manifest_in(place: Place) -> str:
    names = set(place.listing(""))
    found = [name for name in (MANIFEST, *DERIVED) if name in names]
    if not found:
        place.manifest()  # says what is wrong where there is none
    return (found or [MANIFEST])[0]


def _described(content: Any, sha256: str, manifest: str) -> Version:
    """What the manifest of a derived folder says by itself: no place, and of a mixture no time."""
    if not isinstance(content, dict) or not isinstance(content.get("files"), list):
        raise StorageError(f"{manifest}: lists no files; restore it from a copy")
    named = [content["source"]] if "source" in content else content.get("sources", [])
    parents: dict[str, Parent] = {
        source["manifest_sha256"]: {"sha256": source["manifest_sha256"], "place": ""}
        for source in named
        if "manifest_sha256" in source
    }
    return {
        "format": VERSION_FORMAT,
        "sha256": sha256,
        "manifest": manifest,
        "operation": content.get("operation") or DERIVED[manifest],
        "time": content.get("time"),
        "parents": list(parents.values()),
        "parameters": {name: value for name, value in content.items() if name not in {*_NO_PARAMETERS, *_COUNTS}},
        "software": content.get("versions", {}),
        "config_digests": content.get("source", {}).get("config_digests", []),
        "counts": content.get("counts") or _counts(content),
        "files": [data_file(each) for each in content["files"]],
    }


def _counts(content: dict[str, Any]) -> dict[str, int]:
    said = {name: content[name] for name in _COUNTS if isinstance(content.get(name), int)}
    return {"documents": sum(each["documents"] for each in content["files"])} | said
