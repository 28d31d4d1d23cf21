"""Releases by hand are kept in the corpus, so that a replay of its archive does not set the same pages aside again."""

from __future__ import annotations

from typing import Any, TypedDict

import orjson

from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ARCHIVE, Place
from crawler.times import rfc3339

RELEASES = "releases.jsonl"


class Release(TypedDict):
    """One line: a domain, and the moment (RFC 3339, UTC) up to which its pages are never set aside."""

    domain: str
    time: str


def note_release(place: Place, domain: str, now: float) -> None:
    """Add a release to the corpus. now: seconds since the epoch. Raises: StorageError."""
    lines = [*_read(place), Release(domain=domain, time=rfc3339(now))]
    place.put(RELEASES, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))


def releases_of(place: Place) -> dict[str, str]:
    """The latest release of each domain. Raises: StorageError where the file is damaged."""
    found: dict[str, str] = {}
    for line in _read(place):
        found[line["domain"]] = max(line["time"], found.get(line["domain"], ""))
    return found


class Releases:
    """What a replay knows: the releases of the corpora whose archives it reads. `read` does I/O, `covers` does not."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}

    def knows(self, archive: str) -> bool:
        """True where `read` has been called for an archive of this folder."""
        return _corpus_of(archive) in self._known

    def read(self, archive: str) -> None:
        """Look for releases beside an archive (path or URL). Archives that lie in no corpus have none.

        Raises: StorageError where the file is damaged.
        """
        corpus = _corpus_of(archive)
        self._known[corpus] = releases_of(Place(corpus)) if corpus else {}

    def covers(self, archive: str, domain: str, fetched: str) -> bool:
        """True for a page of a released domain that was fetched (RFC 3339, UTC) before the release."""
        return fetched <= self._known.get(_corpus_of(archive), {}).get(domain, "")


def _corpus_of(archive: str) -> str:
    """The folder of the corpus that an archive lies in; empty where it lies in none."""
    corpus, found, _name = archive.rpartition(f"/{ARCHIVE}/")
    return corpus if found else ""


def _read(place: Place) -> list[Release]:
    try:
        with place.open(RELEASES) as file:
            return [_release(orjson.loads(line)) for line in file]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise StorageError(f"{place.path_of(RELEASES)}: cannot be read ({error}); restore it from a copy") from error


def _release(line: Any) -> Release:
    match line:
        case {"domain": str(domain), "time": str(time)}:
            return Release(domain=domain, time=time)
    raise ValueError("a line names no domain and time")
