"""What killed workers left in an object store is finished here: their runs are closed, their files are listed.

An object store has no locks. A worker's sign of life is its ledger, which it saves at least once a minute. A run
without an end is closed only when a person asks for it and its ledger is older than `SILENT_SECONDS`, by the clock of
the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from crawler.number import number_of
from crawler.storage.archive.cdxj import with_index
from crawler.storage.corpus.manifest import Ledger, ledgers_of, merge, merged
from crawler.storage.corpus.recovery import recover, writer_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import FOLDERS, LEDGERS, Place
from crawler.storage.types import Manifest
from crawler.times import rfc3339

SILENT_SECONDS = 900.0
"""A worker saves its ledger every 60 s (`CHECKPOINT_SECONDS`); an upload of 1 GB at 2 MB/s holds it up for 500 s."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run without an end. silent: seconds since its worker last saved its ledger, by the store's clock."""

    writer: str
    started: str
    silent: float


@contextmanager
def spooled(place: Place) -> Iterator[Place]:
    """The same corpus for an operation that writes: files for a remote one grow in a temporary folder."""
    if not place.remote:
        yield place
        return
    with TemporaryDirectory(prefix="corpus-spool-") as folder:
        again = Place(place.url, folder)
        for name in (LEDGERS, *FOLDERS):
            (again.root / name).mkdir(parents=True)
        yield again


def listed(place: Place) -> Manifest:
    """The manifest that the ledgers in the store make; `manifest.json` may lack what was sealed in its last minute.

    Raises: StorageError where there is no corpus, or a ledger cannot be read.
    """
    ledgers = ledgers_of(place)
    return merged(list(ledgers)) if ledgers else place.manifest()


def unmerged(place: Place) -> list[str]:
    """Files that ledgers list and `manifest.json` does not, or the other way round."""
    now = {entry["path"] for entry in listed(place)["files"]}
    return sorted(now ^ {entry["path"] for entry in place.manifest()["files"]})


def open_runs(place: Place) -> list[OpenRun]:
    """Every run without an end, and how long its worker has been silent."""
    runs = [(ledger["writer"], run["started"]) for ledger in ledgers_of(place) for run in ledger["runs"]
            if run["ended"] is None]  # fmt: skip
    return [OpenRun(writer, started, place.age(f"{LEDGERS}/{writer}.json")) for writer, started in runs]


def close_runs(place: Place, runs: list[OpenRun], *, silent: float = SILENT_SECONDS) -> list[OpenRun]:
    """End those of the runs whose worker has been silent for so long, at its last sign of life; answers them.

    The silence is measured again here: a person has thought about the question meanwhile.
    """
    closed = []
    for run in runs:
        age = place.age(f"{LEDGERS}/{run.writer}.json")
        if age < silent:
            continue
        ledger, last = Ledger(place, run.writer), rfc3339(place.modified(f"{LEDGERS}/{run.writer}.json"))
        for one in ledger.runs:
            if one["started"] == run.started and one["ended"] is None:
                one["ended"] = max(one["started"], last)
                one.setdefault("recovered", [])
        ledger.save()
        closed.append(run)
    if closed:
        merge(place)
    return closed


def finish_remote(place: Place) -> int:
    """List what killed workers uploaded and did not list, remove what --fix has replaced, and write the manifest.

    Answers the number of files listed. Raises: StorageError where a run has no end: its worker may be at work.
    """
    if runs := open_runs(place):
        raise StorageError(f"{place.url}: {still_open(runs)}")
    for path in stray_files(place):
        place.fetch(path)
    found = recover(place)
    remove_retired(place)
    return len(found)


def still_open(runs: list[OpenRun]) -> str:
    """What to do about runs without an end."""
    some = ", ".join(f"{run.writer} (silent for {run.silent:,.0f} s)" for run in runs[:5])
    more = f" and {len(runs) - 5} more" if len(runs) > 5 else ""
    return (
        f"{number_of(len(runs), 'run')} without an end: {some}{more}; end the crawl, or start a lost worker again "
        "under its WORKER_ID; `gristmill dataset verify --fix --close-runs` closes the runs of workers that never come "
        "back"
    )


def stray_files(place: Place) -> list[str]:
    """Files of workers in the store that no ledger lists: their worker was killed between upload and ledger."""
    manifest = listed(place)
    known = {entry["path"] for entry in manifest["files"]} | {entry["path"] for entry in manifest["retired"]}
    known = {name for path in known for name in with_index(path)}
    paths = [f"{folder}/{name}" for folder in FOLDERS for name in place.listing(folder)]
    return [path for path in paths if path not in known and writer_of(path)]


def remove_retired(place: Place) -> int:
    """Remove the files that a killed --fix had replaced and not yet removed; answers how many."""
    replaced = {step["old"] for version in listed(place)["lineage"] for step in version["files"]}
    gone = [entry["path"] for entry in listed(place)["retired"] if entry["path"] not in replaced]
    present = {f"{folder}/{name}" for folder in place.folders() for name in place.listing(folder)}
    return sum(place.remove(path) for path in gone if path in present)
