"""How a corpus stands, in one sentence: the crawl runs, was stopped or cut off, is finished, or nothing is here.

Report, explore and `gristmill frontier status` say it in these words.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from crawler.frontier.model import Mode
from crawler.frontier.overview import Overview
from crawler.number import number_of
from crawler.spiders.behind import finished_records
from crawler.statkeys import LEFT_ON_HOLD, MISSED_SITEMAPS, SITEMAPS, SITEMAPS_UNCHANGED, STOPPED_BY_ORDER, WAITING
from crawler.storage.corpus.recovery import lock_of
from crawler.storage.files.errors import StorageError
from crawler.storage.files.place import LEDGERS, PAGES, Place
from crawler.storage.types import Manifest, Run

State = Literal["empty", "running", "cut_off", "stopped", "ended", "finished"]
SILENT_SECONDS = 600.0
"""In an object store, where no lock can be asked: a ledger this old is that of no worker at work."""
_UNSEALED = "its files are not sealed yet: the same crawl command seals them and continues"
_AGAIN = "the same crawl command continues"
_MADE = {"replay": "The replay", "select": "The selection", "dedup": "The removal of duplicates", "merge": "The merge"}
_NAMES = 3
_TAKE_OUT = ("dataset exclude", "dataset expire", "dataset repair")
"""Operations that leave no record of what they take out."""
_SITEMAP_FILES = (SITEMAPS, SITEMAPS_UNCHANGED, MISSED_SITEMAPS)


@dataclass(frozen=True, slots=True)
class Standing:
    """state: a word for programs; sentence: the same for people."""

    state: State
    sentence: str


def standing(place: Place, manifest: Manifest, view: Overview | None = None) -> Standing:
    """How this corpus stands. view: what its frontier says, where somebody has asked it."""
    runs = manifest["runs"]
    if not runs:
        return Standing("empty", "Nothing is here yet: no crawl has begun in this folder.")
    unended = [run for run in runs if run["ended"] is None]
    killed = [run for run in unended if not _is_alive(place, run)]
    if alive := _at_work(unended, killed, view, place.remote):
        return _running(alive, view, f"; {_killed(killed)}: {_UNSEALED}" if killed else "")
    if unended:
        return _cut_off(unended, _UNSEALED)
    return _ended(manifest, max(runs, key=lambda run: (run["ended"] or "", run["started"])), view)


def _ended(manifest: Manifest, latest: Run, view: Overview | None) -> Standing:
    if "recovered" in latest:
        return _cut_off([latest], f"its files are sealed: {_AGAIN}")
    if (kind := latest.get("kind", "crawl")) != "crawl":
        return Standing("finished", f"{_MADE.get(kind, 'The work')} is finished.")
    counters = latest["counters"]
    waiting = counters.get(WAITING, 0) if view is None else view.counts.queued + view.counts.leased
    held = _left_on_hold(manifest["runs"], latest) if view is None else view.counts.held
    if waiting:
        ordered = STOPPED_BY_ORDER in counters if view is None else view.counts.mode is not Mode.RUN
        return _stopped(waiting, ordered=ordered)
    if held is None and WAITING in counters:
        return Standing("ended", f"The crawl was stopped when no URL waited; {_AGAIN}, should any be on hold or due.")
    if held is None:  # of an older version, or one that could not ask its frontier at its end
        return Standing("ended", f"The latest run has ended and did not say what waits: {_AGAIN}.")
    return _finished(held, any(entry["documents"] for entry in manifest["files"] if entry["kind"] in PAGES))


def _left_on_hold(runs: list[Run], latest: Run) -> int | None:
    """What the crawl left on hold; of workers side by side one says it for all, and the others say nothing."""
    told = [
        run["counters"][LEFT_ON_HOLD]
        for run in runs
        if LEFT_ON_HOLD in run["counters"]
        and run["crawl_id"] == latest["crawl_id"]
        and (run["ended"] or "") >= latest["started"]
    ]
    return told[-1] if told else None


def accounted(manifest: Manifest) -> int | None:
    """How many finished URLs a corpus knows of: its records that are final, and sitemap files, which leave none. None
    where records were taken out since.
    """
    if any(version["operation"].startswith(_TAKE_OUT) for version in manifest.get("lineage", [])):
        return None
    read = sum(run["counters"].get(name, 0) for run in manifest["runs"] for name in _SITEMAP_FILES)
    return read + finished_records(manifest["files"])


def standing_of(view: Overview) -> Standing:
    """The same where the frontier alone is at hand."""
    counts = view.counts
    if view.workers:
        return _running(view.workers, view)
    waiting = counts.queued + counts.leased
    if waiting and not (counts.leased or counts.held or counts.done or counts.dead):
        return Standing("empty", f"Nothing is here yet: {_waits(waiting)} for a first worker.")
    if waiting:
        return _stopped(waiting, ordered=counts.mode is not Mode.RUN)
    if not counts.seen:
        return Standing("empty", "Nothing is here yet: the frontier knows no URL.")
    return _finished(counts.held, judged=bool(counts.done or counts.dead))


def _at_work(unended: list[Run], killed: list[Run], view: Overview | None, remote: bool) -> int:
    """Workers at work, here and elsewhere. A lock tells at once that a process has gone; the frontier only after a
    while, so it is not believed of those that were killed here."""
    here = len(unended) - len(killed)
    if view is None:
        return here
    gone = set[str]() if remote else {run["worker_id"] for run in killed}
    return max(here, sum(worker.alive and worker.name not in gone for worker in view.workers_seen))


def _running(workers: int, view: Overview | None, besides: str = "") -> Standing:
    """view: what the frontier says, which knows whether they have anything to do."""
    counts = None if view is None else view.counts
    if counts is not None and counts.mode is Mode.PAUSE:
        said = f"The crawl is paused: {number_of(workers, 'worker waits', 'workers wait')}"
    elif counts is not None and not counts.queued + counts.leased:
        said = (
            f"The crawl runs: {number_of(workers, 'worker waits', 'workers wait')} for URLs, of which there is none now"
        )
    else:
        said = f"The crawl runs: {number_of(workers, 'worker is', 'workers are')} at work"
    return Standing("running", f"{said}{besides}.")


def _cut_off(runs: list[Run], then: str) -> Standing:
    return Standing("cut_off", f"The crawl was cut off: {_killed(runs)}; {then}.")


def _killed(runs: list[Run]) -> str:
    names = sorted({run["worker_id"] for run in runs})
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    one = len(names) == 1
    return f"the worker {names[0]} was killed" if one else f"the workers {', '.join(names[:_NAMES])}{more} were killed"


def _stopped(waiting: int, *, ordered: bool) -> Standing:
    """ordered: it was told to pause or to drain, and no worker is handed anything until that is taken back."""
    first = "after `gristmill frontier resume` " if ordered else ""
    return Standing("stopped", f"The crawl was stopped: {_waits(waiting)}; {first}{_AGAIN}.")


def _waits(waiting: int) -> str:
    return number_of(waiting, "URL waits", "URLs wait")


def _finished(held: int, judged: bool) -> Standing:
    if not judged and not held:
        return Standing("empty", "The crawl is finished, and the corpus is empty: no page was judged.")
    if not held:
        return Standing("finished", "The crawl is finished: no URL waits.")
    are = f"{number_of(held, 'URL is', 'URLs are')} on hold, which a later run tries again"
    return Standing("finished", f"The crawl is finished: {are}.")


def _is_alive(place: Place, run: Run) -> bool:
    writer = f"{run['crawl_id']}-{run['worker_id']}"
    if not place.remote:
        return lock_of(place, writer).is_held()
    try:
        return time.time() - place.modified(f"{LEDGERS}/{writer}.json") < SILENT_SECONDS
    except StorageError:
        return False
