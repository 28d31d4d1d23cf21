"""Bookmarks say how far a replay has come in each archive, and what it recorded behind that point: no page twice.

A bookmark is saved after the commit that covers every document before it, so it never runs ahead of the records. What
was committed behind it is found in the records themselves: each names its archive, offset and record.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from crawler.storage.files.errors import StorageError
from crawler.storage.files.journal import disk, replace_file
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import ARCHIVE, HELD, LEDGERS, PAGES, SHARDS, Place
from crawler.storage.files.shards import read_records

Spot = bytes
"""What tells one page of an archive from all others (`spot_of`)."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Every page of the archive before byte `offset` is recorded; `finished`: every page."""

    offset: int = 0
    finished: bool = False


class Bookmarks:
    """The bookmarks of one crawl in one corpus folder, a small file for each archive.

    `reach` and `save` are called by the one thread that writes the corpus.
    """

    def __init__(self, place: Place, crawl_id: str, digest: str) -> None:
        self._digest = digest  # of the configuration: records of two do not mix
        self._folder = place.root / LEDGERS / f"replay-{crawl_id}"
        self._unsaved: dict[str, Bookmark] = {}

    def of(self, archive: str) -> Bookmark:
        """The saved bookmark; the beginning where there is none or it cannot be read.

        Raises: StorageError where it was set under another configuration.
        """
        try:
            values = orjson.loads(self._path(archive).read_bytes())
            mark, digest = Bookmark(int(values["offset"]), bool(values["finished"])), values["config_digest"]
        except (OSError, ValueError, KeyError, TypeError):
            return Bookmark()
        if digest != self._digest:
            raise StorageError(
                f"{archive} has been replayed into this corpus with other settings; give another CORPUS_DIR, or set "
                "them back to continue"
            )
        return mark

    def claim(self, archive: str) -> WriterLock:
        """The lock that whoever replays this archive holds until the end.

        Raises: StorageError where another live process replays it into this corpus.
        """
        with disk(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(self._path(archive).with_suffix(".lock"))
        if not lock.acquire():
            raise StorageError(
                f"{archive}: another live process replays it into this corpus; give each process its part of the "
                "archives: -a part=1/2 and -a part=2/2"
            )
        return lock

    def reach(self, archive: str, bookmark: Bookmark) -> None:
        """Note how far the records that were handed over go; durable after the next `save`."""
        self._unsaved[archive] = bookmark

    def save(self) -> None:
        """Write what was reached. Call it when the records before it are durable. Raises: StorageError."""
        for archive, mark in self._unsaved.items():
            content = {"archive": archive, "offset": mark.offset, "finished": mark.finished}
            content["config_digest"] = self._digest
            replace_file(self._path(archive), orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE))
        self._unsaved.clear()

    def _path(self, archive: str) -> Path:
        return self._folder / f"{hashlib.sha256(archive.encode()).hexdigest()[:32]}.bookmark"


def spot_of(archive: str, offset: int, record_id: str, url: str) -> Spot:
    """Stands for one page of an archive: 16 bytes, so that millions of them can be held. url: of its record."""
    named = f"{archive}\n{offset}\n{record_id}\n{url}"
    return hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=16).digest()


def spots_behind(place: Place, marks: Mapping[str, Bookmark], name: Callable[[str], str | None]) -> set[Spot]:
    """What the sealed files of a corpus record of these archives at or behind their bookmarks.

    Also of archives that are the corpus's own: a replay of them into itself judges no page a second time.
    name: what a page is called; records of older versions have the archive's spelling. Raises: StorageError where a
    file is damaged.
    """
    found: set[Spot] = set()
    own = {f"{ARCHIVE}/{path.rpartition('/')[2]}": path for path in marks if _is_own(place, path)}
    for folder in PAGES:
        for record in _records(place, folder):
            archive, offset = record.get("warc_file") or "", record.get("warc_offset")
            archive = own.get(archive, archive)
            mark = marks.get(archive)
            if mark is not None and not mark.finished and isinstance(offset, int) and offset >= mark.offset:
                url = name(record["url"]) or record["url"]
                found.add(spot_of(archive, offset, record.get("warc_record_id") or "", url))
    return found


def _is_own(place: Place, archive: str) -> bool:
    folder = place.path_of(ARCHIVE) if place.remote else os.path.realpath(place.path_of(ARCHIVE))
    there = archive.rpartition("/")[0]
    return folder == (there if place.remote else os.path.realpath(there))


def kept_texts(place: Place) -> Iterator[tuple[str, str]]:
    """Owner (canonical URL) and text of every document that the corpus has kept or holds, oldest file first."""
    for folder in (SHARDS, HELD):
        for record in _records(place, folder):
            yield record["canonical_url"], record["text"]


def _records(place: Place, folder: str) -> Iterator[Any]:
    manifest = place.load_json("manifest.json") or {}
    for entry in manifest.get("files", []):
        if entry["kind"] == folder:
            yield from read_records(place, entry["path"])
