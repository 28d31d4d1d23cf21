"""Supersede takes out what later visits replaced, or found gone: the next version of the corpus is without it.

The newest final verdict on a URL counts (`verify.py` ranks alike); a visit that failed (no answer, an error of the
server) gives way to any later verdict, and else stays. Older records go in one rewrite: the files that held
them move to `replaced/`, the old manifest finds them there, and the raw pages of both versions stay in the archive.
Where the newest verdict is an opt-out the page is withdrawn instead, as `dataset exclude` does: text, raw page
and all older versions are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field

from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.pages import identity, page_key, page_name
from crawler.dataset.rewrite import Rewritten, read_files, records_in, rewrite
from crawler.dataset.verify import finish_dead_writers, is_final
from crawler.dataset.versions import Cause
from crawler.dataset.withdrawals import OPTED_OUT
from crawler.document import DropReason, Reason
from crawler.statkeys import REPLACING
from crawler.storage.files.place import PAGES, REJECTED, REPLACED, SHARDS, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_records
from crawler.storage.types import Entry, Manifest, Run
from crawler.times import rfc3339

_NOES = (DropReason.OPTOUT, DropReason.ROBOTS_DISALLOWED, DropReason.ACCESS_DENIED)
BY = "recrawl"
"""The operation's name in the lineage."""


@dataclass(frozen=True, slots=True)
class Superseded:
    """What `supersede` did. rewritten: None where there was nothing to do; withdrawn: pages that opted out since."""

    rewritten: Rewritten | None = None
    withdrawn: int = 0

    @property
    def records(self) -> int:
        """Records that left the current version."""
        return (self.rewritten.dropped if self.rewritten else 0) + self.withdrawn


@dataclass(slots=True)
class Standing:
    """Which records do not count any more, by `identity`, and which kept pages opted out since, by name."""

    stale: set[bytes] = field(default_factory=set)
    opted_out: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Best:
    """The newest final record of a page so far. rank: when it was fetched, and whether it was kept."""

    rank: tuple[str, bool]
    identity: bytes
    opted_out: str  # the name of its page, where that is the verdict


def is_pending(manifest: Manifest) -> bool:
    """True where a recrawl, or its replay, found something since superseded records were last taken out.

    Runs are counted: the server of the frontier dates them, this machine dates versions, and their clocks may differ.
    Versions of older releases do not say how many they read.
    """
    runs = _replacing(manifest)
    read = [step for step in manifest.get("lineage", []) if step["operation"] == BY or "replacing_runs" in step]
    last = read[-1] if read else None
    if last is None or any(run["ended"] is None for run in runs):
        return bool(runs)
    if "replacing_runs" in last:
        return len(runs) > last["replacing_runs"]
    return any((run["ended"] or "") > last["time"] for run in runs)


def _replacing(manifest: Manifest) -> list[Run]:
    return [run for run in manifest["runs"] if any(run["counters"].get(name) for name in REPLACING)]


def pending(place: Place) -> str:
    """For whoever reads or counts every record: some may no longer be the latest. Empty where all of them are."""
    if not is_pending(place.manifest()):
        return ""
    return (
        f"later visits may have replaced records that are still in the corpus, and in these figures: {way_out(place)}"
    )


def way_out(place: Place) -> str:
    """How they leave it, and who need not wait for that."""
    others = "export, select and mix leave all of it out already"
    return f"{command(place)} takes them out, and what opted out since ({others})"


def command(place: Place) -> str:
    """What a person types."""
    return f"`gristmill dataset supersede {place.url}`"


def supersede(place: Place, *, now: float) -> Superseded:
    """Make the next version of the corpus; safe to repeat after a crash at any moment.

    Raises: StorageError while a worker is at work, on a damaged file or a failing disk.
    """
    finish_dead_writers(place)
    runs = len(_replacing(place.manifest()))  # before the records are read: a run that ends meanwhile is another one
    found = standing(place)
    _withdraw(place, found.opted_out, now, None if _outlives_withdrawal(place, found) else runs)
    withdrawn = len(found.opted_out)
    if withdrawn:  # what it left of their records is named otherwise
        found = standing(place)
    reason = "replaced, or found gone, by a later visit"
    if not found.stale:
        if not _asks_in_vain(place):
            return Superseded(None, withdrawn)
        reason = "nothing is left of what later visits replaced"
    done = rewrite(
        place,
        lambda record: None if identity(record) in found.stale else record,
        Cause(BY, reason, now, replacing_runs=runs),
        folders=PAGES if found.stale else (),
        even_unchanged=not found.stale,
    )
    return Superseded(done, withdrawn)


def _asks_in_vain(place: Place) -> bool:
    """True where what a run replaced has gone in another way, and a version has to say that it was looked for."""
    manifest = place.manifest()
    return is_pending(manifest) and all(run["ended"] is not None for run in manifest["runs"])


def supersede_doubled(place: Place, *, now: float) -> Superseded:
    """`supersede`, where a page has more than one record: several archives, crawls or visits brought it.

    Needs 8 bytes of memory a record, and more for such pages only. Raises: StorageError as `supersede`.
    """
    finish_dead_writers(place)
    return supersede(place, now=now) if has_doubled(place) else Superseded()


def is_shared(manifest: Manifest) -> bool:
    """True where pages may have come from several sides: two crawls, or archives."""
    return len(manifest["crawls"]) > 1 or any(run.get("kind") == "replay" for run in manifest["runs"])


def has_doubled(place: Place) -> bool:
    """Whether any record has been replaced by another one of its page. Raises: StorageError."""
    repeated = _Repeated(place)
    found = standing(place, among=repeated) if repeated else Standing()
    return bool(found.stale or found.opted_out)


class _Repeated:
    """The keys of pages that have more than one record, as far as 8 bytes of them tell: a few too many do no harm."""

    def __init__(self, place: Place) -> None:
        import numpy  # late: whoever asks nothing of a corpus does without

        records = records_in(place, PAGES)
        keys = numpy.fromiter((self._short(page_key(record)) for record in records), numpy.uint64)
        keys.sort()
        self._keys = set(keys[1:][keys[1:] == keys[:-1]].tolist())

    @staticmethod
    def _short(key: bytes) -> int:
        return int.from_bytes(key[:8], "little")

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, bytes) and self._short(key) in self._keys


def opted_out_since(place: Place) -> set[str]:
    """Names of kept pages whose newest visit found an opt-out. Raises: StorageError."""
    refused = {page_key(record) for record in _rejected(place, _says_no)}
    return standing(place, among=refused).opted_out if refused else set()


def _withdraw(place: Place, opted_out: set[str], now: float, replacing_runs: int | None = None) -> None:
    if opted_out:
        rule = f"{OPTED_OUT}, {rfc3339(now)}"
        wish = Wish(
            "opted out", revoked=lambda record: page_name(record) in opted_out, rule=rule, by=BY, reach="nothing"
        )
        withdraw(place, wish, now=now, replacing_runs=replacing_runs)


def _outlives_withdrawal(place: Place, found: Standing) -> bool:
    """True where records are left to take out once the pages that opted out are gone; reads only where some are."""
    if not found.opted_out:
        return bool(found.stale)
    going = (r for r in records_in(place, PAGES) if "reason" in r or page_name(r) not in found.opted_out)
    return any(identity(record) in found.stale for record in going)


def standing(place: Place, *, among: Container[bytes] | None = None) -> Standing:
    """Read every record of the current version; needs about 0.5 kB of memory a URL. among: keys of the only pages that
    are looked at. Raises: StorageError.
    """
    return standing_of(records_in(place, PAGES), among=among)


def standing_of(records: Iterable[Record], *, among: Container[bytes] | None = None) -> Standing:
    """`standing` of records: of them url, canonical_url, crawl_id, worker_id, doc_id, crawled_at, reason, warc_file and
    warc_offset count.

    Those that only say what a run left open or as it was do not: each run says that of itself.
    """
    found, best, kept, failed = Standing(), dict[bytes, _Best](), set[bytes](), dict[bytes, _Best]()
    for record in records:
        if not (is_final(record.get("reason")) or is_failure(record.get("reason"))):
            continue
        key, claim = page_key(record), _claim(record)
        if among is not None and key not in among:
            continue
        if not is_final(record.get("reason")):
            _compete(failed, key, claim, found.stale)
            continue
        if claim.rank[1]:
            kept.add(key)
        _compete(best, key, claim, found.stale)
    found.stale -= {claim.identity for claim in best.values()}
    found.stale |= {one.identity for key, one in failed.items() if key in best and one.rank < best[key].rank}
    found.opted_out = {claim.opted_out for key, claim in best.items() if claim.opted_out and key in kept}
    return found


def stale_in(place: Place) -> set[bytes]:
    """Which records do not count any more, by `identity`; read only where some may not. Raises: StorageError."""
    manifest = place.manifest()
    if (is_pending(manifest) or is_shared(manifest)) and (repeated := _Repeated(place)):
        return standing(place, among=repeated).stale
    return set()


def read_latest(place: Place) -> Iterator[Record]:
    """The kept record of every page that still stands, also where superseded ones were not taken out yet."""
    stale = stale_in(place)
    return (record for record in records_in(place) if not stale or identity(record) not in stale)


def read_all_versions(place: Place) -> Iterator[Record]:
    """Every kept record there ever was and that was not withdrawn: of this version, then of the ones before."""
    seen: set[bytes] = set()
    steps = [step for version in place.manifest().get("lineage", []) for step in version["files"]]
    older = [f"{REPLACED}/{step['old']}" for step in steps if step["old"].startswith(f"{SHARDS}/")]
    present = set(place.listing(f"{REPLACED}/{SHARDS}"))
    paths = [entry["path"] for entry in read_files(place)]
    for path in paths + [path for path in older if path.rpartition("/")[2] in present]:
        for record in read_records(place, path):
            name = identity(record)
            if name not in seen:
                seen.add(name)
                yield record


def endings_in(place: Place) -> Iterator[Record]:
    """The records of visits after which nothing that was kept of their page before may be handed on: it is gone or
    moved, or its site says no. Reads only files that have one. Raises: StorageError.
    """
    return _rejected(place, _ends)


def _ends(reason: str) -> bool:
    return reason in _NOES or Reason.of(reason).ends


def _says_no(reason: str) -> bool:
    return reason == DropReason.OPTOUT


def _has(entry: Entry, wanted: Callable[[str], bool]) -> bool:
    counted = entry.get("reasons")  # files of older versions count none
    is_there = counted is None or any(wanted(name.rpartition("/")[2]) for name in counted)
    return entry["kind"] == REJECTED and is_there


def _rejected(place: Place, wanted: Callable[[str], bool]) -> Iterator[Record]:
    for entry in read_files(place, (REJECTED,)):
        if _has(entry, wanted):
            yield from (record for record in read_records(place, entry["path"]) if wanted(record["reason"]))


def is_failure(reason: str | None) -> bool:
    """True where a visit ended in a verdict that says nothing about the page."""
    return reason is not None and Reason.of(reason).is_failure


def _claim(record: Record) -> _Best:
    rank = (record.get("crawled_at") or "", "reason" not in record)
    return _Best(rank, identity(record), page_name(record) if record.get("reason") == DropReason.OPTOUT else "")


def _compete(best: dict[bytes, _Best], key: bytes, claim: _Best, stale: set[bytes]) -> None:
    current = best.setdefault(key, claim)
    if current is claim:
        return
    if claim.rank > current.rank:
        best[key], claim = claim, current
    stale.add(claim.identity)
