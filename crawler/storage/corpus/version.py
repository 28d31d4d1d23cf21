"""A corpus says what its version is: the manifest, read as one entry of the registry.

`register` notes it when an operation has made it. What nobody noted (an older program, a crash in between) is read off
the manifests that are there: `versions_of` answers it without writing, and the next `register` notes it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from typing import Any, cast

import orjson

from crawler.storage.corpus.registry import HERE, VERSION_FORMAT, DataFile, Parent, Registry, Version, place_from
from crawler.storage.corpus.software import versions
from crawler.storage.corpus.sources import folders_replayed
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import MANIFEST, Place, identity_of
from crawler.storage.types import Lineage, Manifest, Run

logger = logging.getLogger(__name__)

UNSAID = "recovery"
"""The operation of a version that no run and no rewrite made: files of a dead worker were sealed."""


def register(
    place: Place, *, by: str = "", sources: Mapping[str, str] | None = None, live: bool = False
) -> Version | None:
    """Note the version that stands, and earlier ones that were not noted; None while a worker is at work.

    by: the operation, where the manifest does not say it. sources: places of parents by hash; each is told of this
    folder. live: it was made earlier or is still growing, and something is made of it now. Raises: StorageError.
    """
    if not live and any(run["ended"] is None for run in place.manifest()["runs"]):
        return None
    registry = Registry(place)
    known = registry.versions()
    fresh = _unnoted(place, known, by=by, sources=sources or {})
    if fresh and not fresh[-1]["software"] and not live:
        fresh[-1]["software"] = versions()
    for version in fresh:
        registry.add(version)
    stands = fresh[-1] if fresh else known[manifest_hash(place)]
    for sha256, source in (sources or {}).items():
        note_child(Place(source), sha256, place.url, stands)
    return stands


def note_child(parent: Place, sha256: str, url: str, version: Version) -> None:
    """Tell a folder what was derived from it; a folder that cannot be written is named in the log, and no error."""
    place = place_from(parent.url, url)
    try:
        Registry(parent).add_child({"sha256": version["sha256"], "place": place, "operation": version["operation"]})
    except StorageError as error:
        logger.warning(
            "%s (version %s) cannot record that %s was made from it (%s): name it with --also-in to `dataset lineage`",
            parent.url, sha256[:12], url, error,
        )  # fmt: skip


def tell_replayed(place: Place, stands: Version | None) -> None:
    """Tell the corpora whose archives were replayed into this one; one that cannot be told is named in the log."""
    own = identity_of(place.url)
    for folder in folders_replayed(place.manifest()) if stands else ():
        if stands is None or identity_of(folder) == own:
            continue
        try:
            source = Place(folder)
            if source.load_json(MANIFEST) is not None:
                note_child(source, manifest_hash(source), place.url, stands)
        except StorageError as error:
            logger.warning("%s cannot be told that %s was made of its archives (%s)", folder, place.url, error)


def versions_of(place: Place) -> dict[str, Version]:
    """Every version of a corpus, by hash, noted or not. Raises: StorageError where there is no corpus."""
    known = Registry(place).versions()
    return known | {version["sha256"]: version for version in _unnoted(place, known)}


def manifest_hash(place: Place) -> str:
    """The SHA-256 of the manifest: the name of the version that stands. Raises: StorageError where there is none."""
    place.manifest()  # says what is wrong where there is none
    return hashlib.sha256(place.content(MANIFEST)).hexdigest()


def _unnoted(
    place: Place, known: Mapping[str, Version], *, by: str = "", sources: Mapping[str, str] | None = None
) -> list[Version]:
    """What the manifests of the folder say and the registry does not, oldest first; the last one stands."""
    found: dict[str, Version] = {}
    for step in place.manifest().get("lineage", []):
        if (sha256 := step["previous"]["sha256"]) not in known and (old := _read(place, step["previous"]["path"])):
            content, digest = old
            if digest == sha256:
                found[sha256] = describe(place, content, sha256, {**known, **found})
    content, sha256 = _read(place, MANIFEST) or (place.manifest(), manifest_hash(place))
    if sha256 not in known:
        found[sha256] = describe(place, content, sha256, {**known, **found}, by=by, sources=sources or {})
    return list(found.values())


def _read(place: Place, name: str) -> tuple[Manifest, str] | None:
    try:
        content = place.content(name)
        return cast("Manifest", orjson.loads(content)), hashlib.sha256(content).hexdigest()
    except (OSError, orjson.JSONDecodeError):
        return None


def describe(
    place: Place,
    manifest: Manifest,
    sha256: str,
    known: Mapping[str, Version],
    *,
    by: str = "",
    sources: Mapping[str, str] | None = None,
) -> Version:
    """A manifest as a version. known: the versions before it."""
    number, ended = manifest.get("version", 1), sum(run["ended"] is not None for run in manifest["runs"])
    latest = max(known.values(), key=_order, default=None)
    step = _last_step(manifest) if latest is None or number > latest.get("number", 0) else None
    run = _last_run(manifest)
    operation, parameters, parents = _cause(step, run if _is_new(run, latest, ended) else None)
    if not parents and latest is not None:
        parents = [{"sha256": latest["sha256"], "place": HERE}]
    for parent in parents:
        if parent["sha256"] in (sources or {}):
            parent["place"] = place_from(place.url, (sources or {})[parent["sha256"]])
    return {
        "format": VERSION_FORMAT,
        "sha256": sha256,
        "manifest": MANIFEST,
        "number": number,
        "runs": ended,
        "operation": by or operation,
        "time": step["time"] if step else run["ended"] if run else None,
        "parents": parents,
        "parameters": parameters,
        "software": run["versions"] if run and not step else {},
        "config_digests": manifest["config_digests"],
        "counts": manifest["counts"],
        "files": [data_file(entry) for entry in manifest["files"]],
    }


def _cause(step: Lineage | None, run: Run | None) -> tuple[str, dict[str, Any], list[Parent]]:
    """The operation, its parameters, and the parents that the manifest itself names."""
    if step is not None:
        parameters = {"reason": step["reason"], "kept_old": step["kept_old"], "counts": step["counts"]}
        return step["operation"], parameters, [{"sha256": step["previous"]["sha256"], "place": HERE}]
    if run is None:
        return UNSAID, {}, []
    kind = run.get("kind", "crawl")
    if "selected_from" in run:
        origin = dict(run["selected_from"])
        return f"dataset {kind}", origin, [{"sha256": str(origin.pop("manifest_sha256")), "place": ""}]
    if "deduplicated_from" in run:
        of = dict(run["deduplicated_from"])
        return f"dataset {kind}", of, [{"sha256": sha256, "place": ""} for sha256 in corpora_behind(run)]
    if "merged_from" in run:
        merged = dict(run["merged_from"])
        return f"dataset {kind}", merged, [{"sha256": sha256, "place": ""} for sha256 in corpora_behind(run)]
    parameters = {"crawl_id": run["crawl_id"], "config_digest": run["config_digest"], "counters": run["counters"]}
    judged: list[Parent] = [{"sha256": sha256, "place": ""} for sha256 in corpora_behind(run)]
    return kind, parameters | ({"archives": run["archives"]} if run.get("archives") else {}), judged


def corpora_behind(run: Run) -> list[str]:
    """The manifests of the corpora that a run made this corpus of, by SHA-256; none of a crawl or a replay."""
    if "selected_from" in run:
        return [run["selected_from"]["manifest_sha256"]]
    of = run.get("deduplicated_from") or run.get("merged_from") or run.get("judged_from")
    sources = of["sources"] if of else []
    return [source["manifest_sha256"] for source in sources if "manifest_sha256" in source]


def is_made_of_others(run: Run) -> bool:
    """True for a run that wrote a corpus out of corpora and files that were there, with the runs of those."""
    judged = "judged_from" in run and run["judged_from"]["of"] == "documents"
    return judged or bool(run.keys() & {"selected_from", "deduplicated_from", "merged_from"})


def _is_new(run: Run | None, latest: Version | None, ended: int) -> bool:
    return run is not None and (latest is None or ended > latest.get("runs", 0))


def _order(version: Version) -> tuple[int, int, str]:
    return version.get("number", 0), version.get("runs", 0), version["time"] or ""


def _last_step(manifest: Manifest) -> Lineage | None:
    steps = manifest.get("lineage") or []
    return steps[-1] if steps else None


def _last_run(manifest: Manifest) -> Run | None:
    return max(manifest["runs"], key=lambda run: (run["ended"] or "", is_made_of_others(run)), default=None)


def data_file(entry: Any) -> DataFile:
    """What a version says of a file that a manifest lists."""
    return {"path": entry["path"], "sha256": entry["sha256"], "documents": entry["documents"]}
