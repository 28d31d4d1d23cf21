"""What stands of each page that was not kept: a page counts once, however often it was visited.

Records are verdicts of visits; a page that said no at three visits has three of them. Of one page the newest final
verdict stands; else the newest that says nothing of the page (a failure, on hold, as it was).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from crawler.dataset.growing import records_in_progress
from crawler.dataset.pages import page_key
from crawler.dataset.refused import Refusals
from crawler.document import DropReason, Reason
from crawler.statkeys import LEFT_ON_HOLD
from crawler.storage.files.journal import PART
from crawler.storage.files.place import PAGES, Place
from crawler.storage.files.records import Record, is_held
from crawler.storage.files.shards import read_records
from crawler.storage.types import Entry, Manifest, Run

Maker = tuple[str, str, str]
"""A run: crawl, worker, start."""


class Verdict(NamedTuple):
    """Why pages of a domain are not in the corpus. runs: those that may have said it last; older versions name none."""

    stage: str
    reason: str
    domain: str
    runs: tuple[Maker, ...]


def visited_again(runs: Iterable[Run]) -> bool:
    """False where each page has one record for certain: all runs worked side by side, so none visited a page again."""
    runs = list(runs)
    ends = [run["ended"] for run in runs if run["ended"] is not None]
    return bool(ends) and max(run["started"] for run in runs) > min(ends)


def not_kept(place: Place, manifest: Manifest, refused: Refusals | None = None) -> Counter[Verdict]:
    """Pages that are not kept, by the verdict that stands. Reads every record; needs about 0.4 kB of memory a page.

    refused: a visit that found one of these pages unchanged says nothing any more, since its document is withdrawn.
    Raises: StorageError where a file is damaged.
    """
    found = _standing(place, manifest, refused).values()
    return Counter(best.verdict for best in found if best.verdict is not None)


def standing_records(place: Place, manifest: Manifest) -> Iterator[Record]:
    """The record of each page that stands, kept or not, without holds that a later run of their crawl did not leave.

    Reads every record, where a page may have several of them twice. Raises: StorageError where a file is damaged.
    """
    again, latest = visited_again(manifest["runs"]), told_by(manifest["runs"])
    stands = {best.line for best in _standing(place, manifest).values()} if again else None
    for entry in _entries(manifest):
        is_now = stands_now(makers_of(entry), latest)
        for number, record in enumerate(read_records(place, entry["path"])):
            if (stands is None or (entry["path"], number) in stands) and (
                is_now or not Reason.holds(record.get("reason"))
            ):
                yield record


class _Best(NamedTuple):
    """The record of a page that counts so far: weight, time and whether it is kept; where it is; why it is not kept."""

    rank: tuple[int, str, bool]
    line: tuple[str, int]
    verdict: Verdict | None


def _standing(place: Place, manifest: Manifest, refused: Refusals | None = None) -> dict[bytes, _Best]:
    found: dict[bytes, _Best] = {}
    latest = told_by(manifest["runs"])
    names: dict[Verdict, Verdict] = {}  # equal verdicts are one object
    for entry in _entries(manifest):
        runs = makers_of(entry)
        is_now = stands_now(runs, latest)
        for number, record in enumerate(_records(place, entry["path"])):
            if refused and record.get("reason") == DropReason.UNCHANGED and refused.of_record(record):
                continue
            said, weight = _said(record, runs), _weight(record.get("reason"), is_now=is_now)
            key, rank = page_key(record), (weight, record.get("crawled_at") or "", said is None)
            if key not in found or rank > found[key].rank:
                found[key] = _Best(rank, (entry["path"], number), said and names.setdefault(said, said))
    return found


def _records(place: Place, path: str) -> Iterator[Record]:
    """Of a sealed file, or of one that a worker still writes (`crawler.dataset.growing`)."""
    return records_in_progress(place.root / path) if path.endswith(PART) else read_records(place, path)


def _entries(manifest: Manifest) -> list[Entry]:
    return [entry for entry in manifest["files"] if entry["kind"] in PAGES]


def told_by(runs: Iterable[Run]) -> dict[str, frozenset[Maker]]:
    """By crawl, the latest run that came to its end and recorded every URL that waits in the frontier; of a corpus that
    was merged the latest of each source, since each had a frontier of its own.

    So of each crawl the holds of these runs are all there are; those of the runs before are history, and where no run
    has told (older versions) all of them stand.
    """
    told: dict[tuple[str, str], Run] = {}
    for run in runs:
        of = run["crawl_id"], run.get("source", "")
        if LEFT_ON_HOLD in run["counters"] and (run["ended"] or "") >= (told.get(of, run)["ended"] or ""):
            told[of] = run
    found: dict[str, frozenset[Maker]] = {}
    for (crawl, _), run in told.items():
        found[crawl] = found.get(crawl, frozenset()) | {(crawl, run["worker_id"], run["started"])}
    return found


def stands_now(runs: Collection[Maker], latest: Mapping[str, Collection[Maker]]) -> bool:
    """Whether what these runs left on hold may still wait. latest: of `told_by`."""
    return not runs or any(run in latest.get(run[0], (run,)) for run in runs)


def makers_of(entry: Entry) -> tuple[Maker, ...]:
    """The runs whose records a file has."""
    return tuple(sorted({(made["crawl_id"], made["worker_id"], made["started"]) for made in entry.get("made_by", [])}))


def _said(record: Record, runs: tuple[Maker, ...]) -> Verdict | None:
    if "reason" not in record or is_held(record):
        return None
    return Verdict(str(record.get("stage") or ""), str(record["reason"]), str(record.get("domain") or ""), runs)


def _weight(reason: str | None, *, is_now: bool) -> int:
    if reason is None or (known := Reason.of(reason)).is_final:
        return 2
    return 1 if is_now or not known.is_hold else 0
