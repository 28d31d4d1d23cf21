"""Is the corpus what its manifest says, and is each page there exactly once?

`verify` reads everything: hashes, counts, every line. `fix` rewrites the shards that hold what a page left behind that
was delivered twice, or that several crawls, archives or visits brought: the newest verdict stays. Rewritten files get
new names; the manifest lists what they replace.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field

from crawler.dataset.annotations.tables import annotation_files, document_of, orphans
from crawler.dataset.archive_check import check_archive, check_sources, expired_sources
from crawler.dataset.beside import Beside, files_at_rest, without_listed
from crawler.dataset.pages import identity, page_key
from crawler.dataset.remote import finish_remote, listed, open_runs, still_open
from crawler.dataset.rewrite import tidy
from crawler.document import Reason
from crawler.storage.corpus.answers import damage_in
from crawler.storage.corpus.manifest import Ledger, makers_of, merge
from crawler.storage.corpus.missing import check_ledgers, missing_ledgers
from crawler.storage.corpus.recovery import local_names, lock_of, recover
from crawler.storage.corpus.version import register
from crawler.storage.files.errors import StorageError
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import ANNOTATIONS, ARCHIVE, LEDGERS, SHARDS, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_lines, read_records, write_sealed
from crawler.storage.types import Entry

FIX = "dataset verify --fix"
"""The operation of a version without surplus records."""
Line = tuple[str, int]
"""File and line number (from 0) of a record."""


@dataclass(slots=True)
class Findings:
    """What `verify` saw. `damage` are sentences for people; `surplus` are the lines that should go.

    `superseded` are lines that a later one replaces without any fault: they said nothing final (on hold, unchanged),
    since each run says what it left open, or rejected the page at an earlier visit. `fix` may take them out, too.
    `doubled`: surplus lines of another visit than the one that stands, which `dataset supersede` takes out, too.
    `beside` are files that no manifest lists, of a corpus in a folder.
    `orphaned`: rows of each annotation whose document is not in the corpus; empty where something is damaged.
    `expired`: archives that went because of their age and that records still name, and how many records: no fault.
    """

    files: int = 0
    documents: int = 0
    damage: list[str] = field(default_factory=list)
    surplus: list[Line] = field(default_factory=list)
    superseded: list[Line] = field(default_factory=list)
    doubled: int = 0
    beside: Beside = field(default_factory=Beside)
    orphaned: dict[str, int] = field(default_factory=dict)
    expired: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class _Claim:
    """The best record of a page so far: how good, where it is, and which one."""

    rank: tuple[bool, str, bool]
    line: Line
    identity: bytes
    again: bool  # of a later visit of the page, which knows of the first


def verify(place: Place) -> Findings:
    """Check every file that the manifest lists, and name those beside them. Needs about 0.5 kB of memory a record.

    Raises: StorageError where there is no corpus. Damage is not raised but listed, with file and line.
    """
    findings = Findings()
    claims: dict[bytes, _Claim] = {}
    documents: set[bytes] = set()
    at_rest = files_at_rest(place)
    manifest = listed(place) if place.remote else place.manifest()
    findings.beside = without_listed(at_rest, manifest)
    findings.expired = expired_sources(manifest)
    findings.damage += [] if place.remote else _broken_ledgers(place)  # of a store `listed` has read them
    findings.damage += missing_ledgers(place)
    findings.damage += broken_answers(place)
    for entry in manifest["files"]:
        findings.files += 1
        try:
            check_bytes(place, entry["path"], size=entry["bytes"], sha256=entry["sha256"])
            if entry["kind"] == ARCHIVE:
                check_archive(place, entry)
            elif entry["kind"] != ANNOTATIONS:
                check_sources(entry, _check_lines(place, entry, findings, claims, documents), manifest)
        except (StorageError, OSError) as error:
            said = str(error).removeprefix(f"{place.path_of(entry['path'])}: ")
            findings.damage.append(f"{entry['path']}: {said}")
    if annotated := annotation_files(manifest["files"]) if not findings.damage else []:
        findings.orphaned = orphans(place, annotated, documents)
    return findings


def fix(place: Place, surplus: list[Line]) -> int:
    """Rewrite the files with surplus lines; returns how many lines went.

    The new files and the manifest that lists them come first, the old files go last: a crash leaves each record once
    or twice, never not at all. A remote corpus needs a spool (`remote.spooled`).

    Raises: StorageError where a worker is alive, or the disk or the store fails.
    """
    by_file: dict[str, set[int]] = {}
    for path, number in surplus:
        by_file.setdefault(path, set()).add(number)
    if place.remote and (runs := open_runs(place)):
        raise StorageError(f"{place.url}: {still_open(runs)}")
    writers = {entry["path"]: entry["writer"] for entry in merge(place)["files"]}
    with ExitStack() as stack:
        for writer in sorted({writers[path] for path in by_file}):
            stack.callback(_locked(place, writer).release)
        for path in sorted(by_file):
            _rewrite(place, writers[path], path, by_file[path])
        merge(place)
        for path in sorted(by_file):
            place.remove(path)
    register(place, by=FIX)
    return len(surplus)


def finish_dead_writers(place: Place, ended: list[str] | None = None) -> int:
    """Seal what crashed workers left behind, so that it can be checked; returns the number of files.

    What a crashed rewrite left in a folder is removed; in an object store that is left to the next rewrite, since
    nothing there tells a crashed one from one at work. `ended` takes the tokens of killed processes (`recover`).
    """
    if place.remote:
        return finish_remote(place)
    check_ledgers(place)
    tidy(place)
    return len(recover(place, ended=ended))


def _broken_ledgers(place: Place) -> list[str]:
    """What to say of each ledger that cannot be read: the next crawl would refuse to begin, however whole the rest."""
    broken = []
    for name in sorted(place.listing(LEDGERS)):
        if not name.endswith(".json") or name.startswith("."):
            continue
        try:
            place.load_json(f"{LEDGERS}/{name}")
        except StorageError as error:
            broken.append(str(error).removeprefix(place.path_of("")))
    return broken


def broken_answers(place: Place) -> list[str]:
    """What to say of the ledger of language models: it has what was paid, and no manifest knows its hash."""
    return [] if place.remote else [said.removeprefix(place.path_of("")) for said in damage_in(place)]


def check_bytes(place: Place, path: str, *, size: int, sha256: str) -> None:
    """Raises: StorageError where a file has another size (bytes) or hash than its manifest says, OSError."""
    with place.open_listed(path) as file:
        digest, there = hashlib.sha256(), 0
        while block := file.read(1 << 20):
            digest.update(block)
            there += len(block)
    if there != size:
        raise StorageError(f"{there} bytes instead of {size}; restore the file from a copy")
    if digest.hexdigest() != sha256:
        raise StorageError("the SHA-256 is not the one in the manifest; restore the file from a copy")


def _check_lines(
    place: Place, entry: Entry, findings: Findings, claims: dict[bytes, _Claim], documents: set[bytes]
) -> Counter[str]:
    """Answers how many of the records come from which archive. documents: gets the keys of what rows may be about."""
    number, sources = -1, Counter[str]()
    for number, record in enumerate(read_records(place, entry["path"])):
        if not isinstance(record, dict) or not record.get("url"):
            raise StorageError(f"line {number + 1} is not a record; restore the file from a copy")
        _claim(claims, record, entry, (entry["path"], number), findings)
        if (document := document_of(record)) is not None:
            documents.add(document)
        if source := record.get("warc_file"):
            sources[source] += 1
    if number + 1 != entry["documents"]:
        raise StorageError(f"{number + 1} records instead of {entry['documents']}; restore the file from a copy")
    findings.documents += number + 1
    return sources


def _claim(claims: dict[bytes, _Claim], record: Record, entry: Entry, line: Line, findings: Findings) -> None:
    """Keep the best record of each page: final before weak, then newest, then kept before rejected, then first."""
    kept = entry["kind"] == SHARDS
    weak = not is_final(record.get("reason"))
    rank = (not weak, record.get("crawled_at") or "", kept)
    _compete(claims, page_key(record), _Claim(rank, line, identity(record), _is_later_visit(record)), findings)


def is_final(reason: str | None) -> bool:
    """True for a kept record (None) and for a verdict on the page; any final one replaces one that is not."""
    return reason is None or Reason.of(reason).is_final


def _compete(claims: dict[bytes, _Claim], key: bytes, claim: _Claim, findings: Findings) -> None:
    best = claims.setdefault(key, claim)
    if best is claim:
        return
    if claim.rank > best.rank:
        claims[key], claim = claim, best
    final, _, kept = claim.rank
    replaced = not final or (claims[key].again and not kept)  # a verdict of an earlier visit
    (findings.superseded if replaced else findings.surplus).append(claim.line)
    findings.doubled += not replaced and claim.identity != claims[key].identity


def _is_later_visit(record: Record) -> bool:
    first = record.get("first_seen")
    return bool(first) and first != record.get("crawled_at")


def _locked(place: Place, writer: str) -> WriterLock:
    lock = lock_of(place, writer)
    if not lock.acquire():
        raise StorageError(f"{place.url}: the worker {writer!r} is at work; run --fix when the crawl has ended")
    return lock


def _rewrite(place: Place, writer: str, path: str, numbers: set[int]) -> None:
    """Write a file without these lines and let the ledger list it in place of the old one, which stays for now."""
    ledger = Ledger(place, writer)
    folder, _, name = path.rpartition("/")
    new = None
    if len(numbers) < ledger.files[path]["documents"]:
        number = ledger.next_number(folder, _names(place, folder))
        new = f"{folder}/{writer}-{number:06d}.{name[len(writer) + 1 :].partition('.')[2]}"
        with place.open_listed(path) as file:
            lines = read_lines(file, path)
            written = write_sealed(place.root / new, (line for i, line in enumerate(lines) if i not in numbers))
        place.publish(new)
        ledger.add(new, written, makers_of([ledger.files[path]]))
    ledger.retire(path, removed=len(numbers), replaced_by=new)
    ledger.save()
    if new:
        place.forget_local(new)


def _names(place: Place, folder: str) -> list[str]:
    return local_names(place, folder) + (place.listing(folder) if place.remote else [])
