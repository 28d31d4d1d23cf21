"""The origin of a page: its record back to the bytes in the archive, the evidence, the configuration, and the versions.

The archive of a subset stays with its source, so the folders that a folder was made of are asked for it in turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from crawler.dataset.page import FoundPage, archived_page, find_page
from crawler.dataset.registry.behind import refusals_of
from crawler.dataset.registry.derived import is_corpus, standing_hash, versions_in
from crawler.storage.corpus.registry import HERE, place_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import Place

_EVIDENCE = ("robots_status", "robots_sha256", "robots_fetched_at", "optout_signals", "noai_checked", "license_tag")
MAX_STEPS = 1_000
"""Versions that are followed back."""


def origin_of(place: Place, name: str) -> dict[str, Any]:
    """What the record of a page says of where it comes from; plain JSON types.

    Of a derived folder the page is looked up in the corpora that it was made of. Where a page is in none of them (it
    was withdrawn), `missing` says so. Raises: StorageError on a damaged file.
    """
    steps = list(_back(place))
    missing = []
    for corpus in _corpora(place, steps):
        try:
            page = find_page(corpus, name, refusals_of([corpus]))
        except StorageError as error:
            missing.append(str(error))
            continue
        return _of(corpus, page, steps)
    return {"missing": missing, "versions": steps}


def _of(place: Place, page: FoundPage, steps: list[dict[str, Any]]) -> dict[str, Any]:
    record = page.record
    digest = record.get("config_digest")
    runs = [run for run in place.manifest()["runs"] if run["config_digest"] == digest]
    return {
        "page": record["url"],
        "verdict": f"rejected: {record['reason']}" if "reason" in record else "kept",
        "record": f"{place.path_of(page.file)}, line {page.line}",
        "archive": _archive(place, page, steps),
        "evidence": {name: record.get(name) for name in _EVIDENCE},
        "configuration": {
            "config_digest": digest,
            "settings": runs[-1].get("policy", {}) if runs else {},
            "software": runs[-1]["versions"] if runs else {},
        },
        "versions": steps,
    }


def _archive(place: Place, page: FoundPage, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """File, offset and hash of the bytes, read once more; `missing` where no folder on the way has them."""
    record = page.record
    said = {name: record.get(name) for name in ("warc_file", "warc_offset", "warc_record_id")}
    why = ""
    for corpus in _corpora(place, steps):
        try:
            found = archived_page(corpus, record)
        except StorageError as error:
            why = why or str(error)
            continue
        content = hashlib.sha256(found.body).hexdigest()
        return said | {"folder": corpus.url, "bytes": len(found.body), "sha256": content}
    return said | {"missing": why}


def _corpora(place: Place, steps: list[dict[str, Any]]) -> Iterator[Place]:
    """This folder, then those it was made of, without derived folders, which have no archive."""
    for url in dict.fromkeys([place.url, *(step["folder"] for step in steps if step["known"])]):
        corpus = Place(url)
        if is_corpus(corpus):
            yield corpus


def _back(place: Place) -> Iterator[dict[str, Any]]:
    """The version that stands, and every one before it, near ones first."""
    waiting, seen = [(place.url, standing_hash(place))], set[str]()
    while waiting and len(seen) < MAX_STEPS:
        folder, sha256 = waiting.pop(0)
        if sha256 in seen:
            continue
        seen.add(sha256)
        try:
            version = versions_in(Place(folder)).get(sha256) if folder else None
        except StorageError:
            version = None
        yield {
            "folder": folder,
            "sha256": sha256,
            "known": version is not None,
            "operation": version["operation"] if version else None,
            "time": version["time"] if version else None,
        }
        for parent in version["parents"] if version else []:
            where = parent["place"]
            waiting.append((folder if where == HERE else place_of(folder, where) if where else "", parent["sha256"]))
