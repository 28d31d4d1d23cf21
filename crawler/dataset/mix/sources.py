"""The sources of a mixture are read here: our corpora and their versions, and files of others under our field names.

What a corpus has withdrawn is left out of every source, and also what the corpora refuse that a source was made of, and
what was fetched of a page before a visit of any of the sources found it gone, or was told no. What is older than a
corpus lets documents become is left out of that corpus and of what was made of it: nobody asked anything of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import IO, Any

import fsspec
import orjson

from crawler.dataset.annotations.joined import reader_of
from crawler.dataset.diff import Side, side_of
from crawler.dataset.living import refused_by
from crawler.dataset.mix.spec import Source
from crawler.dataset.pages import identity
from crawler.dataset.refused import PASSED, Refusal, Refusals
from crawler.dataset.registry.behind import corpora_behind
from crawler.dataset.registry.derived import folders_around
from crawler.dataset.supersede import read_latest, standing_of
from crawler.dataset.withdrawals import log_hash
from crawler.document import RECORD_FIELDS
from crawler.storage.files.columns import arrow, kind_of, record_of_row
from crawler.storage.files.errors import StorageError
from crawler.storage.files.formats import suffixes
from crawler.storage.files.parquet import BATCH_ROWS
from crawler.storage.files.place import MANIFEST, REPLACED, SHARDS, Place
from crawler.storage.files.records import SYNTHETIC, SYNTHETIC_FIELDS, Record
from crawler.storage.files.shards import file_facts, read_lines, read_records
from crawler.urls.canonicalize import registrable_domain

_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "int64": (int,), "double": (int, float), "bool": (bool,)}


@dataclass(slots=True)
class Counts:
    """What became of the records of one source. empty: without a text. left_out: that `where` does not hold for.

    why: of the withdrawn ones, what became of them ("withdrawn", "gone or opted out", "expired"), and in which corpus.
    """

    read: int = 0
    withdrawn: int = 0
    empty: int = 0
    left_out: int = 0
    why: Counter[tuple[str, str]] = field(default_factory=Counter)


class Sources:
    """All sources of a spec, open for reading as often as it takes. given: the corpora and folders of ours among them.

    beside: others whose refusals hold here, too. Raises: StorageError where a source is not there.
    """

    def __init__(self, specs: tuple[Source, ...], beside: Iterable[Place] = ()) -> None:
        self._specs = specs
        self._sides = {each.name: side_of(each.corpus) for each in specs if each.corpus is not None}
        self._files = {each.name: _files_of(each) for each in specs if each.corpus is None}
        given = {each.name: self._folders_of(each.name) for each in specs}
        own = {name: [*places, *corpora_behind(places)] for name, places in given.items()}
        self.given = list({place.url: place for places in given.values() for place in places}.values())
        self._places = list({place.url: place for places in own.values() for place in places}.values())
        self._refused = refused_by([*self.given, *beside])
        expired = {place.url: Refusals(expired=Refusals.of([place]).expired) for place in self._places}
        self._expired = {
            name: [(place.url, expired[place.url]) for place in places if expired[place.url]]
            for name, places in own.items()
        }

    def _folders_of(self, name: str) -> list[Place]:
        """The corpus that a source is, or the corpora and derived folders that its files lie in."""
        side = self._sides.get(name)
        return [side.place] if side else list(map(Place, folders_around(self._files[name]).values()))

    def read(self, number: int, found: Counts) -> Iterator[Record]:
        """The documents of a source, each with all fields of the record, in the order of its files."""
        spec = self._specs[number]
        annotated = self._annotated(spec)
        for record in self._records(spec):
            found.read += 1
            if refusal := self._refused.of_record(record):
                found.withdrawn += 1
                found.why[self._why(record, refusal)] += 1
            elif url := next((url for url, expired in self._expired[spec.name] if expired.has_passed(record)), ""):
                found.withdrawn += 1
                found.why["expired", url] += 1
            elif not record.get("text"):
                found.empty += 1
            elif spec.where is not None and not spec.where.holds(annotated(record)):
                found.left_out += 1
            else:
                yield record

    def _why(self, record: Record, refusal: Refusal) -> tuple[str, str]:
        """What became of a refused record, but not by its age, and in which corpus."""
        words = "gone or opted out" if refusal is PASSED else "withdrawn"
        return words, next((url for url, refused in self._by_place if refused.of_record(record)), "")

    @cached_property
    def _by_place(self) -> list[tuple[str, Refusals]]:
        return [(place.url, refused_by([place])) for place in self._places]

    def _annotated(self, spec: Source) -> Callable[[Record], Record]:
        side = self._sides.get(spec.name)
        return reader_of(side.place, [spec.where]) if side and spec.where else lambda record: record

    def _records(self, spec: Source) -> Iterator[Record]:
        if (side := self._sides.get(spec.name)) is None:
            for path in self._files[spec.name]:
                for number, record in enumerate(records_of(str(path)), 1):
                    yield as_ours(spec, record, f"{path}:{number}")
            return
        for record in _of_side(side):
            yield record | dict(spec.constants) if spec.constants else record

    def state(self) -> list[object]:
        """Changes where a source changes."""
        manifests = [side.place.load_json(MANIFEST) for side in self._sides.values()]
        stats = [path.stat() for paths in self._files.values() for path in paths]
        logs = [log_hash(place) for place in self._places]
        return [*manifests, *logs, *((stat.st_size, stat.st_mtime_ns) for stat in stats)]

    def corpora(self) -> list[Place]:
        """The corpora among the sources."""
        return [side.place for side in self._sides.values()]

    def others(self) -> dict[str, list[str]]:
        """Names of the files of each source that is no corpus."""
        return {name: [path.name for path in paths] for name, paths in self._files.items()}

    def lineage(self) -> list[dict[str, Any]]:
        """What the sources are, by hash: of the manifest of a corpus, of each file of others."""
        found = []
        for each in self._specs:
            side = self._sides.get(each.name)
            what = _of_corpus(side) if side else {"files": [_of_file(path) for path in self._files[each.name]]}
            mapping: dict[str, Any] = {"fields": dict(each.fields), "set": dict(each.constants)}
            mapping["where"] = str(each.where or "")
            found.append({"name": each.name, **what, **{name: value for name, value in mapping.items() if value}})
        return found

    def places(self) -> dict[str, str]:
        """Where the corpora and the derived folders among the sources are, by the hash of the version that is read."""
        found = {side.sha256: side.place.url for side in self._sides.values()}
        return found | folders_around(path for paths in self._files.values() for path in paths)


def _of_side(side: Side) -> Iterator[Record]:
    """The latest record of each page that is kept."""
    if not side.noted and side.version == side.place.manifest().get("version", 1):
        yield from read_latest(side.place)
        return
    stale = standing_of(record for path in side.paths for record in read_records(side.place, path)).stale
    for path in side.paths:
        if path.removeprefix(f"{REPLACED}/").startswith(f"{SHARDS}/"):
            yield from (record for record in read_records(side.place, path) if identity(record) not in stale)


def _of_corpus(side: Side) -> dict[str, Any]:
    return {
        "manifest_sha256": side.sha256,
        "version": side.version,
        "crawls": side.place.manifest()["crawls"],
    }


def _of_file(path: Path) -> dict[str, Any]:
    return {"name": path.name, **file_facts(path)}


# --- files of others -------------------------------------------------------------------------------------------------
def _files_of(source: Source) -> list[Path]:
    """The files behind paths, globs and folders, in the order of their names, each once."""
    found: dict[Path, None] = {}
    for text in source.files:
        paths = sorted(Path(text).rglob("*")) if Path(text).is_dir() else sorted(map(Path, glob(text)))  # noqa: PTH207  # absolute patterns, too
        files = [path for path in paths if path.name.endswith(suffixes()) and path.is_file()]
        if not files:
            raise StorageError(
                f"{source.at('files')}{text}: no file that ends in {', '.join(suffixes())}; correct the path"
            )
        found |= dict.fromkeys(files)
    return list(found)


def records_of(name: str) -> Iterator[Any]:
    """What stands on each line, or in each row, of a file of others, at a path or URL.

    Raises: StorageError where it cannot be read, or is damaged.
    """
    try:
        with fsspec.open(name, "rb") as file:
            yield from _rows(file, name) if name.endswith(".parquet") else _lines(file, name)
    except OSError as error:
        raise StorageError(f"{name}: cannot be read ({error}); check the path and its permissions") from error


def _lines(file: IO[bytes], name: str) -> Iterator[Any]:
    for number, line in enumerate(read_lines(file, name), 1):
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise StorageError(f"{name}:{number}: is not JSON ({error}); restore the file from a copy") from error


def _rows(file: IO[bytes], name: str) -> Iterator[Any]:
    pa = arrow()
    try:
        with pa.parquet.ParquetFile(file, pre_buffer=False) as table:
            is_ours = b"crawler.schema" in (table.schema_arrow.metadata or {})
            for batch in table.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
                yield from map(record_of_row, batch.to_pylist()) if is_ours else batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise StorageError(f"{name}: cannot be read as Parquet ({error}); restore the file from a copy") from error


def as_ours(source: Source, theirs: Any, where: str) -> Record:
    """Their record under our names: what `fields` maps, and what has our name already.

    Raises: StorageError naming file and record where a field that is mapped is not there, or is of another type.
    """
    if not isinstance(theirs, dict):
        raise StorageError(f"{where}: expected an object with fields, not {type(theirs).__name__}")
    record: Record = dict.fromkeys(RECORD_FIELDS)
    record |= {name: value for name, value in theirs.items() if name in record and _fits(name, value)}
    record |= synthetic_of(theirs)
    for name, theirs_name in source.fields.items():
        if theirs_name not in theirs:
            known = ", ".join(sorted(theirs)[:20])
            raise StorageError(f"{where}: sources.{source.name}.fields.{name}: no {theirs_name!r} (there is: {known})")
        value = theirs[theirs_name]
        if not _fits(name, value):
            raise StorageError(
                f"{where}: sources.{source.name}.fields.{name}: {theirs_name!r} is not of the type of {name!r} "
                f"({kind_of(name)}); map another field"
            )
        record[name] = value
    record |= source.constants
    if "text" not in source.fields and not isinstance(theirs.get("text", 0), str | None):
        raise StorageError(f"{where}: {_without_text(source, theirs)}")
    record["domain"] = record["domain"] or _domain_of(record["url"] or "")
    return record


def synthetic_of(theirs: dict[str, Any]) -> Record:
    """What a record says of a text that a model wrote: nothing that it passes through takes that away."""
    if theirs.get(SYNTHETIC) is not True:
        return {}
    return {name: theirs[name] for name in SYNTHETIC_FIELDS if name in theirs}


def _without_text(source: Source, theirs: dict[str, Any]) -> str:
    if source.is_named:
        return f"no text; say which field it is: sources.{source.name}.fields.text"
    there = ", ".join(sorted(map(str, theirs))[:20]) or "nothing"
    return f"the field 'text' has to be there, as a string (there is: {there}); give records whose text has this name"


def _domain_of(url: str) -> str | None:
    try:
        return registrable_domain(url)
    except ValueError:  # no http(s) URL: others name their documents as they like
        return None


def _fits(name: str, value: Any) -> bool:
    types = _TYPES.get(kind_of(name))
    if value is None or types is None:
        return True
    return isinstance(value, types) and (kind_of(name) == "bool" or not isinstance(value, bool))
