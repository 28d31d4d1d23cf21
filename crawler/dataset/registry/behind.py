"""The corpora that a folder was made of: what they have withdrawn since is refused in it, too."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from crawler.dataset.refused import Refusals
from crawler.dataset.registry.derived import is_corpus, versions_in
from crawler.storage.corpus.registry import HERE, Registry, Version, place_of
from crawler.storage.corpus.sources import folders_replayed
from crawler.storage.corpus.version import corpora_behind as corpora_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import MANIFEST, Place, identity_of
from crawler.storage.types import Manifest

log = logging.getLogger(__name__)
MOST = 1_000
"""Folders that are followed back."""


def refusals_of(places: Iterable[Place]) -> Refusals:
    """What these corpora and folders refuse, and what the corpora refuse that they were made of.

    A folder behind them that is not there any more is named in the log. Raises: StorageError where a list of
    withdrawals cannot be read.
    """
    given = list(places)
    return Refusals.of([*given, *corpora_behind(given)])


def corpora_behind(places: Iterable[Place]) -> Iterator[Place]:
    """Every folder that these were made of, and those were made of, as far as their registries know the place."""
    waiting = list(places)
    seen = {identity_of(place.url) for place in waiting}
    while waiting and len(seen) < MOST:
        folder = waiting.pop(0)
        for url in _sources(folder):
            if identity_of(url) in seen:
                continue
            seen.add(identity_of(url))
            try:
                place = Place(url)
                is_corpus(place)
            except StorageError:
                log.warning("%s was made of %s, which is not there: what it withdraws is unknown", folder.url, url)
                continue
            waiting.append(place)
            yield place


def _sources(folder: Place) -> list[str]:
    """The folders that this one was made of: by its versions, and those that replayed archives lie in."""
    manifest = folder.load_json(MANIFEST)
    if manifest is None:
        try:
            versions = versions_in(folder)
        except (StorageError, NotADirectoryError):  # nothing is there yet, or a file, as whoever claims it is told
            return []
        return _parents(folder, versions)
    if not isinstance(manifest, dict):
        return []
    found = cast("Manifest", {"runs": [], "files": [], **manifest})
    derived = any(corpora_of(run) for run in found["runs"])
    parents = _parents(folder, Registry(folder).versions() if derived else {})
    return parents + folders_replayed(found)


def _parents(folder: Place, versions: Mapping[str, Version]) -> list[str]:
    parents = (parent["place"] for version in versions.values() for parent in version["parents"])
    return [place_of(folder.url, place) for place in parents if place not in ("", HERE)]
