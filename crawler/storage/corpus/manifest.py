"""What is complete, and who wrote it: one ledger per writer, merged into `manifest.json`.

Each writer owns `manifest.d/<crawl>-<worker>.json` (its sealed files and its runs), so workers never wait for another.
`manifest.json` is the deterministic merge of all ledgers, replaced atomically under a lock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from crawler.policy.facts import PolicyFacts
from crawler.storage.corpus.judged import judged_again
from crawler.storage.corpus.software import versions
from crawler.storage.files.locks import WriterLock
from crawler.storage.files.place import ARCHIVE, FORMAT, LEDGERS, MANIFEST, REJECTED, SHARDS, Place
from crawler.storage.types import (
    Entry,
    LedgerEntry,
    LedgerFile,
    Lineage,
    Made,
    Manifest,
    Retired,
    Run,
    RunKind,
    Sealed,
    Source,
)
from crawler.times import rfc3339

EXPIRY = "dataset expire"
"""The operation of a version in which archives went because of their age."""
REWRITER = "rewrite~"
"""Begins the writer name of a rewrite (`crawler/dataset/rewrite.py`). No crawl or worker id holds a tilde."""


class Ledger:
    """The sealed files and runs of one writer. Hold the writer's lock while you use it."""

    def __init__(self, place: Place, writer: str) -> None:
        self._place = place
        self.writer = writer
        self._name = f"{LEDGERS}/{writer}.json"
        content: LedgerFile = place.load_json(self._name) or LedgerFile(files=[], runs=[])
        self.files: dict[str, LedgerEntry] = {entry["path"]: entry for entry in content["files"]}
        self.runs: list[Run] = content["runs"]
        self.retired: list[Retired] = content.get("retired", [])
        self.rewrite: Lineage | None = content.get("rewrite")

    def add(self, path: str, sealed: Sealed, made_by: list[Made] | None = None) -> None:
        """List a sealed file, published already. It was made by the last run, unless `made_by` says otherwise."""
        entry: LedgerEntry = {**sealed, "path": path, "kind": path.partition("/")[0], "writer": self.writer}
        if made_by is not None or self.runs:
            entry["made_by"] = [maker(self.runs[-1])] if made_by is None else made_by
        self.files[path] = entry

    def retire(self, path: str, *, removed: int, replaced_by: str | None) -> None:
        """Take a file off the list because another one (or none, where nothing is left) stands for it."""
        sha256 = self.files.pop(path)["sha256"]
        self.retired.append({"path": path, "sha256": sha256, "removed": removed, "replaced_by": replaced_by})

    def save(self) -> None:
        """Make the ledger durable; `merge` makes it visible in the manifest."""
        files = [self.files[path] for path in sorted(self.files)]
        content: LedgerFile = {
            "writer": self.writer,
            "files": files,
            "runs": self.runs,
            "retired": self.retired,
        }
        if self.rewrite:
            content["rewrite"] = self.rewrite
        self._place.save_json(self._name, content)

    def next_number(self, folder: str, local_names: list[str]) -> int:
        """The first file number of a folder that was never used by this writer."""
        paths = [*self.files, *(entry["path"] for entry in self.retired)]
        names = [path.rpartition("/")[2] for path in paths if path.startswith(folder + "/")] + local_names
        start = len(self.writer) + 1
        used = [int(name[start:].partition(".")[0]) for name in names if name.startswith(self.writer + "-")]
        return max(used, default=-1) + 1


def start_run(
    started: float,
    *,
    crawl_id: str,
    worker_id: str,
    config_digest: str,
    judging_digest: str,
    judging_parts: dict[str, str],
    policy: PolicyFacts | None = None,
    kind: RunKind = "crawl",
) -> Run:
    """A run that has begun: identity, configuration, versions, and the rules of `crawler.policy.facts`."""
    return {
        "judging_digest": judging_digest,
        "judging_parts": judging_parts,
        "kind": kind,
        "crawl_id": crawl_id,
        "worker_id": worker_id,
        "started": rfc3339(started),
        "ended": None,
        "config_digest": config_digest,
        "versions": versions(),
        "policy": policy or {},
        "counters": {},
    }


def maker(run: Run) -> Made:
    """What a file's entry says of the run that wrote it: the run, its configuration and its software."""
    return {
        "crawl_id": run["crawl_id"],
        "worker_id": run["worker_id"],
        "started": run["started"],
        "config_digest": run["config_digest"],
        "versions": run["versions"],
    }


def makers_of(entries: Iterable[Entry | LedgerEntry]) -> list[Made]:
    """Every run that had a hand in these files, once: for a file that is made out of them."""
    found: list[Made] = []
    for made_by in (run for entry in entries for run in entry.get("made_by", [])):
        if made_by not in found:
            found.append(made_by)
    return found


MERGE_TRIES = 20
"""Merges of a remote corpus in which ledgers changed meanwhile: so many workers are at it that one of them is last."""


def merge(place: Place) -> Manifest:
    """Write `manifest.json` from all ledgers and return it. Whoever merges last has seen every ledger saved before.

    A local folder has a lock. An object store has none: there the ledgers are looked at again after the manifest was
    written, and where one has changed since they were read, all is done again.
    """
    return _merge_remote(place) if place.remote else _merge_local(place)


def merged_now(place: Place) -> Manifest | None:
    """What `merge` would write at this moment; None where no writer has begun.

    `manifest.json` is as old as the last sealed file: of a worker at work, or that was killed, its ledger knows more.
    Raises: StorageError naming a ledger that cannot be read.
    """
    if place.remote:
        ledgers: list[LedgerFile | None] = list(ledgers_of(place))
    else:
        ledgers = [place.load_json(f"{LEDGERS}/{name}") for name in _ledger_names(place)]
    return merged(ledgers) if ledgers else None


def ledgers_of(place: Place) -> list[LedgerFile]:
    """The ledgers of every writer of a remote corpus. Raises: StorageError naming one that cannot be read."""
    return cast("list[LedgerFile]", place.load_all(LEDGERS, sorted(_ledger_states(place))))


def _merge_remote(place: Place) -> Manifest:
    for _ in range(MERGE_TRIES):
        before = _ledger_states(place)
        manifest = merged(place.load_all(LEDGERS, sorted(before)))
        place.save_json(MANIFEST, manifest)
        if _ledger_states(place) == before:
            break
    return manifest


def _ledger_states(place: Place) -> dict[str, str]:
    states = place.states(LEDGERS)
    return {name: state for name, state in states.items() if name.endswith(".json") and not name.startswith(".")}


def _merge_local(place: Place) -> Manifest:
    lock = WriterLock(place.root / LEDGERS / ".merge.lock")
    lock.acquire(wait=True)
    try:
        manifest = merged_now(place) or merged([])
        place.save_json(MANIFEST, manifest)
        for draft in place.root.glob(f".{MANIFEST}.*.tmp"):  # only who holds the lock writes one
            draft.unlink()
    finally:
        lock.release()
    return manifest


def merged(ledgers: list[LedgerFile | None]) -> Manifest:
    """The manifest of these ledgers; the same for any order of them."""
    present = [ledger for ledger in ledgers if ledger]
    listed = {entry["path"]: entry for ledger in present for entry in ledger["files"]}
    lineage = sorted((ledger["rewrite"] for ledger in present if "rewrite" in ledger), key=lambda step: step["version"])
    retired = [entry for ledger in present for entry in ledger.get("retired", [])] + _replaced(lineage, listed)
    runs = sorted(
        (run for ledger in present for run in ledger["runs"]), key=lambda run: (run["started"], run["worker_id"])
    )
    files = _with_sources([listed[path] for path in sorted(listed)], _archive_hashes(present, retired), lineage)
    return {
        "format": FORMAT,
        "version": 1 + len(lineage),
        "crawls": sorted({run["crawl_id"] for run in runs}),
        "config_digests": sorted({run["config_digest"] for run in [*runs, *judged_again(lineage)]}),
        "counts": _counts(files),
        "files": files,
        "retired": sorted(retired, key=lambda entry: entry["path"]),
        "runs": runs,
        "lineage": lineage,
    }


def _counts(files: list[Entry]) -> dict[str, int]:
    counts = dict.fromkeys(_COUNT_NAMES.values(), 0)
    for entry in files:
        name = _COUNT_NAMES.get(entry["kind"], entry["kind"])
        counts[name] = counts.get(name, 0) + entry["documents"]
    return counts | {"files": len(files), "bytes": sum(entry["bytes"] for entry in files)}


def _archive_hashes(ledgers: list[LedgerFile], retired: list[Retired]) -> dict[str, str]:
    """SHA-256 of every archive that records may come from: sealed here, replaced since, or read by a replay."""
    read = {path: digest for ledger in ledgers for run in ledger["runs"] for path, digest in _read_by(run)}
    gone = {entry["path"]: entry["sha256"] for entry in retired}
    here = {e["path"]: e["sha256"] for ledger in ledgers for e in ledger["files"] if e["kind"] == ARCHIVE}
    return read | gone | here


def _read_by(run: Run) -> Iterable[tuple[str, str]]:
    return run.get("archives", {}).items()


def _with_sources(entries: list[LedgerEntry], known: dict[str, str], lineage: list[Lineage]) -> list[Entry]:
    """The entries with the hash of each archive their records come from (None while it grows), and when it went."""
    expired = {step["old"]: v["time"] for v in lineage if v["operation"] == EXPIRY for step in v["files"]}
    return [_with_its_sources(entry, known, expired) for entry in entries]


def _with_its_sources(listed: LedgerEntry, known: dict[str, str], expired: dict[str, str]) -> Entry:
    sources = {path: Source(documents=n, sha256=known.get(path)) for path, n in listed.get("archives", {}).items()}
    for path in expired.keys() & sources.keys():
        sources[path]["expired"] = expired[path]
    entry = cast("Entry", listed)  # all but the archives is the same
    return {**entry, "archives": sources} if "archives" in listed else entry


def _replaced(lineage: list[Lineage], listed: dict[str, LedgerEntry]) -> list[Retired]:
    """Take the files that rewrites replaced off the list, and answer them as retired."""
    found: list[Retired] = []
    for step in (step for version in lineage for step in version["files"]):
        if entry := listed.pop(step["old"], None):
            removed = step["dropped"] + step["rejected"] + step.get("released", 0) + step.get("held", 0)
            found.append(
                {"path": step["old"], "sha256": entry["sha256"], "removed": removed, "replaced_by": step["new"]}
            )
    return found


_COUNT_NAMES = {SHARDS: "kept", REJECTED: "rejected", ARCHIVE: "archived"}


def _ledger_names(place: Place) -> list[str]:
    return [name for name in place.listing(LEDGERS) if name.endswith(".json") and not name.startswith(".")]
