"""The data set becomes what corpus and ledger say now: samples that may not stay leave, new ones come in new tars.

Who of several like images stays is decided in the order of the corpus, after those that are in a tar already: no
timing of an answer decides. The manifest names everything, and is the one moment at which it changes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from crawler.dataset.refused import Refusals
from crawler.images import grants
from crawler.images.fit import fit_without, forget_answers
from crawler.images.folder import FIT, FORMAT, ROWS, TARS, Folder, entry_of
from crawler.images.ledger import Fate
from crawler.images.limits import Limits
from crawler.images.outcomes import KEPT, WAITING, WITHDRAWN
from crawler.images.pdq import MIN_QUALITY, THRESHOLD, Likeness, distance
from crawler.images.prints import Prints
from crawler.images.references import Reference
from crawler.images.rows import Row, read_rows, row_of, write_rows
from crawler.images.tars import TarWriter, key_of, members_of, rewrite_tar
from crawler.storage.corpus.software import versions
from crawler.storage.files.journal import PART, disk
from crawler.times import rfc3339

ROWS_A_FILE = 100_000


@dataclass(slots=True)
class Claims:
    """The images that are in the data set so far: by URL, by bytes, by looks."""

    names: dict[str, str] = field(default_factory=dict)  # name → URL of its page
    digests: dict[str, str] = field(default_factory=dict)  # of the bytes → name
    likeness: Likeness = field(default_factory=Likeness)
    hashed: list[tuple[str, bytes]] = field(default_factory=list)  # name and hash, by the number in `likeness`

    def take(self, one: Reference, facts: dict[str, Any]) -> None:
        """It is in the data set."""
        self.names[one.name] = one.page_url
        for digest in (facts["original_sha256"], facts["sha256"]):
            self.digests.setdefault(digest, one.name)
        if facts["quality"] >= MIN_QUALITY:
            hashed = bytes.fromhex(facts["pdq"])
            self.likeness.add(hashed)
            self.hashed.append((one.name, hashed))

    def duplicate(self, one: Reference, facts: dict[str, Any]) -> tuple[str, str] | None:
        """The outcome of an image that repeats one of these, and which; None where it is new."""
        if one.name in self.names:
            return "duplicate_url", self.names[one.name]
        for digest in (facts["original_sha256"], facts["sha256"]):
            if digest in self.digests:
                return "duplicate_bytes", self.digests[digest]
        if facts["quality"] >= MIN_QUALITY:
            hashed = bytes.fromhex(facts["pdq"])
            if (number := self.likeness.find(hashed)) is not None:
                other, its = self.hashed[number]
                return "duplicate_image", f"{other}, {distance(its, hashed)} bits differ (at most {THRESHOLD})"
        return None


@dataclass(slots=True)
class Built:
    """What stands now. removed: samples that left; added: that came. counts: references by outcome; they add up."""

    manifest: dict[str, Any]
    removed: int
    added: int
    counts: Counter[str]


Same = tuple[str, str, int]


class Build:
    """One pass. refused: of the corpus, as it is now. allowlist: a file, None = all hosts are granted."""

    def __init__(
        self, folder: Folder, limits: Limits, refused: Refusals, source: dict[str, Any], now: float, *,
        allowlist: str | None = None,
    ) -> None:  # fmt: skip
        self._folder, self._limits, self._refused = folder, limits, refused
        self._prints = Prints(refused)
        self._allowlist, self._granted = grants.place_of(allowlist), grants.read_grants(allowlist)
        self._source, self._now = source, now
        self._fates = folder.ledger.read()
        self._claims = Claims()
        self._files: list[dict[str, Any]] = []
        self.forgotten: list[str] = []

    def run(self) -> Built:
        """Write what is new, and make it stand. Raises: StorageError."""
        before = self._folder.manifest() or {"files": [], "next_tar": 0}
        packed = {_same(row): row for row in rows_of(self._folder, before) if row["outcome"] == KEPT}
        staying = self._staying(packed)
        keys = {row["key"] for row in staying.values()}
        gone = {row["key"]: row for row in packed.values() if row["key"] not in keys}
        changed = self._take_out(before, gone)
        writing = _Tars(self._folder, before["next_tar"])
        kept: set[str] = set()
        counts = self._write_rows(staying, writing, kept)
        writing.close()
        forget_answers(self._folder, {row["url"] for row in gone.values()} - kept)
        self._files[:0] = [*changed, *writing.files]
        self._files += fit_without(self._folder, before, lambda key: key in keys)
        said = {"counts": counted(counts), "outcomes": dict(sorted(counts.items())), "files": self._files,
                "next_tar": writing.next_tar, "limits": self._limits.as_json(), "source": self._source,
                "allowlist": self._allowlist} | ({FIT: before[FIT]} if FIT in before else {})  # fmt: skip
        if {name: before.get(name) for name in said} == said:  # nothing has changed: the version that stands, stands
            self._folder.recover()
            return Built(before, 0, 0, counts)
        manifest = {"format": FORMAT, "time": rfc3339(self._now), "versions": versions(), **said}
        self._folder.commit(manifest)
        for name in self.forgotten:
            self._folder.ledger.add(Fate(name, WAITING, "its bytes are not here any more"))
        self._folder.ledger.close()
        return Built(manifest, len(gone), writing.samples, counts)

    def _staying(self, packed: dict[Same, Row]) -> dict[Same, Row]:
        """Samples in tars that the corpus still says word for word, and that nothing refuses."""
        found = {}
        for one in self._folder.read_references():
            row, fate = packed.get(_of(one)), self._fates.get(one.name)
            if row is None or one.refusal or fate is None or fate.outcome != KEPT or self._refused_now(one, fate):
                continue
            if row == row_of(one, fate, KEPT, "", row["key"]):
                found[_of(one)] = row
                self._claims.take(one, fate.facts)
        return found

    def _refused_now(self, one: Reference, fate: Fate | None) -> str:
        """The outcome that corpus and allowlist give it whatever was answered; empty where they let it be."""
        if self._refused and self._refused.refusal(one.name, canonical_url=one.page_url) is not None:
            return WITHDRAWN
        if fate is not None and self._prints.has(fate.facts):
            return WITHDRAWN
        return grants.refusal_of(self._granted, one.url, fate.url if fate is not None else None)

    def _take_out(self, before: dict[str, Any], gone: dict[str, Row]) -> list[dict[str, Any]]:
        """Tars without what left; its bytes wait, where another page may have the image."""
        files = []
        for entry in before["files"]:
            if entry["path"].startswith(f"{TARS}/"):
                files += tar_without(self._folder, entry, frozenset(gone), self._folder.ledger.put)
        return files

    # --- rows, in the order of the corpus -----------------------------------------------------------------------------
    def _write_rows(self, staying: dict[Same, Row], tars: _Tars, kept: set[str]) -> Counter[str]:
        """kept: gets the URLs of the samples."""
        counts: Counter[str] = Counter()

        def rows() -> Iterator[Row]:
            for one in self._folder.read_references():
                row = staying.get(_of(one)) or self._decided(one, tars)
                counts[row["outcome"]] += 1
                if row["outcome"] == KEPT:
                    kept.add(row["url"])
                yield row

        self._files += write_row_files(self._folder, rows())
        return counts

    def _decided(self, one: Reference, tars: _Tars) -> Row:
        fate = self._fates.get(one.name) if one.name and not one.refusal else None
        if (refusal := self._refusal(one, fate)) is not None:
            return row_of(one, fate, *refusal)
        assert fate is not None
        path = self._folder.ledger.place_of(fate.facts["sha256"])
        if not path.exists():
            self.forgotten.append(one.name)
            return row_of(one, fate, WAITING, "")
        self._claims.take(one, fate.facts)
        with disk(path):
            data = path.read_bytes()
        return tars.add(lambda key: row_of(one, fate, KEPT, "", key), fate.facts["extension"], data)

    def _refusal(self, one: Reference, fate: Fate | None) -> tuple[str, str] | None:
        """Outcome and detail; None for one that is to be in the data set."""
        if one.refusal:
            return one.refusal, one.detail
        if refusal := self._refused_now(one, fate):
            return refusal, ""
        if fate is None:
            return WAITING, ""
        return (fate.outcome, fate.detail) if fate.outcome != KEPT else self._claims.duplicate(one, fate.facts)


class _Tars:
    """New tars, one open at a time."""

    def __init__(self, folder: Folder, next_tar: int) -> None:
        self._folder, self.next_tar, self.samples = folder, next_tar, 0
        self._writer: TarWriter | None = None
        self.files: list[dict[str, Any]] = []

    def add(self, row: Callable[[str], Row], extension: str, data: bytes) -> Row:
        """A sample; answers its row, with its key."""
        if self._writer is not None and self._writer.is_full:
            self.close()
        if self._writer is None:
            self._writer = TarWriter(self._folder.root / TARS / f"{self.next_tar:05d}.tar")
        made = row(key_of(self.next_tar, self._writer.samples))
        self._writer.add(made["key"], members_of(made, extension, data))
        self.samples += 1
        return made

    def close(self) -> None:
        """The tar that is open is whole."""
        if self._writer is not None:
            self._writer.close()
            path = f"{TARS}/{self.next_tar:05d}.tar"
            self.files.append(entry_of(path, self._writer.part, self._writer.samples))
            self.next_tar, self._writer = self.next_tar + 1, None


def tar_without(
    folder: Folder, entry: dict[str, Any], gone: frozenset[str], put: Callable[[str, bytes], object]
) -> list[dict[str, Any]]:
    """The entry of a tar without these keys: as it is, rewritten as `.part`, or none where nothing is left."""
    number = entry["path"].rpartition("/")[2].removesuffix(".tar")
    if not any(key[:-4] == number for key in gone):
        return [entry]
    path = folder.root / entry["path"]
    left = rewrite_tar(path, lambda key: key not in gone, lambda _, data: put(_digest(data), data))
    return [entry_of(entry["path"], path.with_name(f"{path.name}{PART}"), left)] if left else []


def write_row_files(folder: Folder, rows: Iterator[Row]) -> list[dict[str, Any]]:
    """All rows, as `.part` files; their entries. Raises: StorageError."""
    files, more = list[dict[str, Any]](), True

    def some() -> Iterator[Row]:
        nonlocal more
        for _ in range(ROWS_A_FILE):
            if (row := next(rows, None)) is None:
                more = False
                return
            yield row

    while more:
        path = folder.root / ROWS / f"{len(files):05d}.parquet{PART}"
        with disk(path):
            count = write_rows(path, some())
        if count or not files:
            files.append(entry_of(f"{ROWS}/{path.name.removesuffix(PART)}", path, 0) | {"rows": count})
        else:
            path.unlink()
    return files


def rows_of(folder: Folder, manifest: dict[str, Any]) -> Iterator[Row]:
    """Every row that a manifest lists. Raises: StorageError."""
    for entry in manifest["files"]:
        if entry["path"].startswith(f"{ROWS}/"):
            yield from read_rows(folder.root / entry["path"])


def counted(outcomes: Counter[str]) -> dict[str, int]:
    """The `counts` of a manifest."""
    return {"documents": outcomes[KEPT], "references": outcomes.total()}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _of(one: Reference) -> Same:
    return one.page_url, one.url, one.index


def _same(row: Row) -> Same:
    return row["page_url"], row["url"], row["index"]
