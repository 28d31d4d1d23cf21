"""A trace reads every file of every version of given folders, and says which still hold a page, a domain, or what
was withdrawn: the audit of a withdrawal.

The files themselves are read, not the index, so the answer is about what is there. Folders that were derived from a
folder are followed where its registry knows of them; one that is not there any more is named, never passed over.
"""

from __future__ import annotations

import struct
import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from crawler.dataset.concerned import raw_pages
from crawler.dataset.entries import Wanted
from crawler.dataset.export_formats import INDEX_FILE, read_mds
from crawler.dataset.refused import Refusals
from crawler.dataset.registry.behind import corpora_behind, refusals_of
from crawler.dataset.registry.derived import CHUNKS, is_corpus, standing_hash, versions_in
from crawler.storage.corpus.registry import Child, Registry, Version, child_path, place_of
from crawler.storage.files.columns import arrow
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import ANNOTATIONS, ARCHIVE, REJUDGE, REPLACED, SHARDS, Place, identity_of
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_records

MAX_FOLDERS = 10_000
"""Folders that one trace follows."""
IMAGE_ROWS = "rows/"
"""Folder of Parquet in a data set of images (`crawler/images`)."""
_MAX_JSON = 64 * 2**20
"""Bytes of one record in a tar."""


@dataclass(slots=True)
class Held:
    """What one file holds. documents: records with a text; decisions: without one; withdrawn: of the documents;
    again: of the withdrawn, those that the folder refuses by itself, so that `exclude --again` takes them out; by:
    which entries of other logs refuse the others.
    """

    path: str
    documents: int = 0
    decisions: int = 0
    withdrawn: int = 0
    again: int = 0
    by: set[str] = field(default_factory=set)


_COUNTED = ("path", "documents", "decisions", "withdrawn", "again")


@dataclass(frozen=True, slots=True)
class Holding:
    """A version that holds some of it. stands: it is the version that the folder is now."""

    folder: str
    corpus: bool
    version: Version
    stands: bool
    tags: list[str]
    files: list[Held]

    @property
    def withdrawn(self) -> int:
        """Documents that were withdrawn and are still there."""
        return sum(held.withdrawn for held in self.files)

    @property
    def again(self) -> int:
        """Of these, those that the folder refuses by itself."""
        return sum(held.again for held in self.files)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        files = [{name: getattr(held, name) for name in _COUNTED} for held in self.files]
        said = {"folder": self.folder, "sha256": self.version["sha256"], "operation": self.version["operation"]}
        return said | {"number": self.version.get("number"), "stands": self.stands, "tags": self.tags, "files": files}


@dataclass(frozen=True, slots=True)
class Raw:
    """An archive of a corpus that still has raw pages whose addresses are refused. own: by this corpus itself, so that
    `exclude --again` takes them out; by: else, which entries of other logs refuse them.
    """

    folder: str
    path: str
    pages: int
    own: bool = True
    by: frozenset[str] = frozenset()


@dataclass(slots=True)
class Trace:
    """What was found. unread: sentences about what could not be looked at, so that nothing is proven about it."""

    folders: list[str] = field(default_factory=list)
    versions: int = 0
    holdings: list[Holding] = field(default_factory=list)
    raw: list[Raw] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def trace(
    start: str, more: Sequence[str], wanted: Wanted, *, progress: Callable[[str], object] = lambda _: None
) -> Trace:
    """Look into the folder `start`, those in `more`, and every one that is known to be derived from them.

    What was withdrawn is what one of them refuses, or a corpus that one of them was made of. Raises: StorageError where
    one of the named folders is no corpus and no derived folder, or a file is damaged.
    """
    found = Trace()
    places = _follow([Place(start), *map(Place, more)], found)
    refused = refusals_of(places)
    _look_into(places, wanted, refused, found, progress)
    if not (wanted.names or wanted.domains):
        found.raw += raw_behind(places, refused)
    return found


def raw_behind(places: Sequence[Place], refused: Refusals) -> list[Raw]:
    """Archives with refused pages in corpora that these were made of, where raw pages stay: they refuse nothing of it.

    Raises: StorageError where an archive cannot be read.
    """
    looked_at = {identity_of(place.url) for place in places}
    sources = (
        place for place in corpora_behind(places) if identity_of(place.url) not in looked_at and is_corpus(place)
    )
    found = []
    for place in sources if refused else ():
        for path, urls in raw_pages(place):
            if by := [entry for url in urls if (entry := refused.refusal(url)) is not None]:
                found.append(Raw(place.url, path, len(by), own=False, by=frozenset(map(str, by))))
    return found


def derived_that_hold(
    start: Place, refused: Refusals | None = None, *, progress: Callable[[str], object] = lambda _: None
) -> Trace:
    """Look into every folder that is known to be derived from this one for what is going to be refused; None: for what
    is refused by now, as `trace` does, which looks into this one, too.

    Raises: StorageError where a file is damaged.
    """
    found = Trace()
    places = _follow([start], found)
    if refused is not None:
        _look_into(places[1:], Wanted(), refused, found, progress)
        return found
    now = refusals_of(places)
    _look_into(places[1:], Wanted(), now, found, progress)
    found.raw += raw_behind(places, now)
    return found


def derived_folders(start: Place) -> Trace:
    """This folder and every one that is known to be derived from it; of what is not there a sentence in `unread`."""
    found = Trace()
    _follow([start], found)
    return found


def derived_records(
    start: Place, *, progress: Callable[[str], object] = lambda _: None
) -> Iterator[tuple[str, Record]]:
    """Every record with an address in every folder that is known to be derived from this one, each with the folder;
    of chunks one for each document, with its text in one piece.

    Raises: StorageError where a file is damaged.
    """
    for place in _follow([start], Trace())[1:]:
        progress(place.url)
        versions = versions_in(place)
        paths = sorted(set(_present(place, versions).values()) - {""})
        rows = (record for path in paths for record in _records(place, path) if record.get("url"))
        cut = versions[standing_hash(place)]["manifest"] == CHUNKS
        yield from ((place.url, record) for record in (_whole(rows) if cut else rows))


def _whole(rows: Iterator[Record]) -> Iterator[Record]:
    """Documents of their chunks, which follow each other."""
    for _, chunks in groupby(rows, key=lambda row: (row["canonical_url"] or row["url"], row["doc_id"])):
        first, *more = chunks
        yield first | {"text": _joined([first, *more])}


class _Refused(NamedTuple):
    """all: by any of the folders that are looked into; own: by the one that is looked into, or what it was made of."""

    all: Refusals
    own: Refusals


def _look_into(
    places: Sequence[Place], wanted: Wanted, refused: Refusals, found: Trace, progress: Callable[[str], object]
) -> None:
    for place in places:
        progress(place.url)
        own = refusals_of([place])
        _look(place, wanted, _Refused(refused, own), found)
        if is_corpus(place) and not (wanted.names or wanted.domains):
            found.raw += _raw_pages(place, refused, own)


def _follow(places: list[Place], found: Trace) -> list[Place]:
    """The folders, and what was derived from them, each once."""
    seen = {identity_of(place.url): place for place in places}
    hashes = {sha256 for place in places for sha256 in versions_in(place)}
    waiting = list(seen.values())
    gone: list[tuple[Place, Child, str]] = []
    while waiting:
        parent = waiting.pop(0)
        for child in Registry(parent).children():
            url = place_of(parent.url, child["place"])
            if identity_of(url) in seen or len(seen) >= MAX_FOLDERS:
                continue
            try:
                place = Place(url)
                versions = versions_in(place)
            except StorageError:
                if f"/{REJUDGE}/" not in url:  # that one went by itself
                    gone.append((parent, child, url))
                continue
            seen[identity_of(url)] = place
            hashes |= versions.keys()
            waiting.append(place)
    found.unread += sorted(
        {
            f"{url}: version {child['sha256'][:12]} ({child['operation']}) was written there and is missing; "
            f"if it was moved, name its new place with --also-in; if it was removed for good, remove "
            f"{parent.path_of(child_path(child))} as well"
            for parent, child, url in gone
            if child["sha256"] not in hashes
        }
    )
    found.folders = [place.url for place in seen.values()]
    return list(seen.values())


def _look(place: Place, wanted: Wanted, refused: _Refused, found: Trace) -> None:
    versions, stands = versions_in(place), standing_hash(place)
    corpus, tags = is_corpus(place), Registry(place).tags()
    present = _present(place, versions)
    cut = versions[stands]["manifest"] == CHUNKS
    held = _held_in_chunks(place, versions[stands], present, wanted, refused) if cut else {}
    for version in versions.values():
        found.versions += 1
        files = []
        for each in version["files"]:
            key, path = (each["path"], each["sha256"]), present.get(each["path"])
            if path is None:
                if version["sha256"] == stands:
                    found.unread.append(f"{place.path_of(each['path'])}: is listed, but missing; restore it")
                continue
            if key not in held:
                held[key] = _held(place, path, wanted, refused)
            if held[key].documents or held[key].decisions:
                files.append(held[key])
        if files:
            names = [tag["name"] for tag in tags.values() if tag["sha256"] == version["sha256"]]
            found.holdings.append(Holding(place.url, corpus, version, version["sha256"] == stands, names, files))


def _present(place: Place, versions: dict[str, Version]) -> dict[str, str]:
    """Where the files of records are now: in their place, or set aside by a later version; the others hold none."""
    listed = {each["path"] for version in versions.values() for each in version["files"]}
    records = {path for path in listed if not path.startswith((f"{ARCHIVE}/", f"{ANNOTATIONS}/"))}
    there = {
        f"{folder}/{name}"
        for folder in {f"{prefix}{path.rpartition('/')[0]}" for path in records for prefix in ("", f"{REPLACED}/")}
        for name in place.listing(folder)
    }
    found = {path: f"{REPLACED}/{path}" for path in records if f"{REPLACED}/{path}" in there}
    return found | {path: path for path in records & there} | dict.fromkeys(listed - records, "")


def _held(place: Place, path: str, wanted: Wanted, refused: _Refused) -> Held:
    found = Held(path)
    for record in _records(place, path) if path else ():
        _count(found, record, wanted, refused)
    return found


def _count(found: Held, record: Record, wanted: Wanted, refused: _Refused) -> None:
    refusal = refused.all.of_record(record)
    gone = refusal is not None
    if not (wanted.matches(record) or (gone and not wanted.names and not wanted.domains)):
        return
    if record.get("text") or "reason" not in record:
        found.documents += 1
        found.withdrawn += gone
        own = refusal is not None and refused.own.of_record(record) is not None
        found.again += own
        if refusal is not None and not own:
            found.by.add(str(refusal))
    else:
        found.decisions += 1


def _held_in_chunks(
    place: Place, version: Version, present: dict[str, str], wanted: Wanted, refused: _Refused
) -> dict[tuple[str, str], Held]:
    """A text is refused whole, so each document is put together again; it counts in the file where it begins."""
    found = {(each["path"], each["sha256"]): Held(each["path"]) for each in version["files"]}
    rows = ((key, row) for key in found if present.get(key[0]) for row in _records(place, key[0]))
    for _, pairs in groupby(rows, key=lambda pair: (pair[1]["canonical_url"] or pair[1]["url"], pair[1]["doc_id"])):
        (key, first), *more = pairs
        _count(found[key], first | {"text": _joined([first, *(row for _, row in more)])}, wanted, refused)
    return found


def _joined(chunks: Sequence[Record]) -> str:
    """The text of a document; between its chunks was white space, and some repeat the end of the one before."""
    parts, end = list[str](), 0
    for row in chunks:
        parts.append("\n" if row["start"] > end else "")
        parts.append(row["text"][max(0, end - row["start"]) :])
        end = row["end"]
    return "".join(parts)


def _raw_pages(place: Place, refused: Refusals, own: Refusals) -> Iterator[Raw]:
    """Archives with pages at refused addresses; of texts an archive says nothing."""
    for path, urls in raw_pages(place, audit=True) if refused else ():
        gone = [url for url in urls if refused.refusal(url) is not None]
        again = sum(own.refusal(url) is not None for url in gone)
        if again:
            yield Raw(place.url, path, again)
        if rest := [refused.refusal(url) for url in gone if own.refusal(url) is None]:
            yield Raw(place.url, path, len(rest), own=False, by=frozenset(map(str, rest)))


def _records(place: Place, path: str) -> Iterator[Record]:
    """The records of a file of a corpus or of a derived folder, whatever its format."""
    if path.endswith((".tar", ".mds")):
        yield from _members(place, path) if path.endswith(".tar") else _samples(place, path)
        return
    if path.endswith(f"/{INDEX_FILE}"):
        return
    if path.startswith(IMAGE_ROWS):
        yield from _image_rows(place, path)
        return
    for record in read_records(place, path):
        if isinstance(record, dict):
            dolma = record.get("metadata") if not path.removeprefix(f"{REPLACED}/").startswith(SHARDS) else None
            yield {**record, **dolma} if isinstance(dolma, dict) else record


def _image_rows(place: Place, path: str) -> Iterator[Record]:
    """Of a data set of images, as decisions: the samples lie in its tars. Raises: StorageError."""
    pa = arrow()
    try:
        with place.open_listed(path) as file, pa.parquet.ParquetFile(file) as rows:
            names = ["url", "canonical_url", "doc_id", "outcome"]
            for batch in rows.iter_batches(columns=names):
                yield from ({**row, "reason": row["outcome"]} for row in batch.to_pylist())
    except (pa.ArrowException, OSError) as error:
        raise StorageError(f"{place.path_of(path)}: cannot be read ({error}); restore it from a copy") from error


def _samples(place: Place, path: str) -> Iterator[Record]:
    """Of a shard of MDS. Raises: StorageError where it is damaged."""
    try:
        with place.open_listed(path) as file:
            yield from read_mds(file)
    except (struct.error, ValueError, OSError) as error:
        raise StorageError(f"{place.path_of(path)}: cannot be read ({error}); restore it from a copy") from error


def _members(place: Place, path: str) -> Iterator[Record]:
    """Of a WebDataset: the JSON of each sample with the text in front of it; of one of images the JSON alone.

    Raises: StorageError where the tar is damaged.
    """
    waiting = ("", "")
    try:
        with place.open_listed(path) as file, tarfile.open(fileobj=file, mode="r|") as tar:
            for member in tar:
                name, _, kind = member.name.rpartition(".")
                content = tar.extractfile(member) if kind in ("json", "txt") and member.size < _MAX_JSON else None
                if content is None:
                    continue
                if kind == "txt":
                    waiting = name, content.read().decode("utf-8", "replace")
                    continue
                record = orjson.loads(content.read())
                yield {**record, "text": waiting[1]} if waiting[0] == name else record
    except (tarfile.TarError, orjson.JSONDecodeError, OSError) as error:
        raise StorageError(f"{place.path_of(path)}: cannot be read ({error}); restore it from a copy") from error
