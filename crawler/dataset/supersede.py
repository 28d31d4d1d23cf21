"""Supersede takes out what later visits replaced, or found gone: the next version of the corpus is without it.

The newest final verdict on a URL counts (`verify.py` ranks alike); a visit that failed (no answer, an error of the
server) gives way to any later verdict, and else stays. Older records go in one rewrite: the files that held
them move to `replaced/`, the old manifest finds them there, and the raw pages of both versions stay in the archive.
Where the newest verdict is an opt-out the page is withdrawn instead, as `dataset exclude` does: text, raw page
and all older versions are deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from crawler.dataset.exclude import Wish, withdraw
from crawler.dataset.rewrite import Rewritten, read_files, records_in, rewrite
from crawler.dataset.verify import finish_dead_writers, is_final, page_key
from crawler.dataset.versions import Cause
from crawler.document import DropReason, Reason
from crawler.statkeys import REPLACING
from crawler.storage.files.place import PAGES, REJECTED, REPLACED, SHARDS, Place
from crawler.storage.files.records import Record
from crawler.storage.files.shards import read_records
from crawler.storage.types import Entry, Manifest, Run
from crawler.times import rfc3339

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
    """Which records do not count any more, by `identity`, and which kept pages opted out since, by URL."""

    stale: set[bytes] = field(default_factory=set)
    opted_out: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Best:
    """The newest final record of a page so far; `canonical` is the key of its canonical URL where it is kept."""

    rank: tuple[str, bool]
    identity: bytes
    canonical: bytes | None
    opted_out: str  # its URL, where that is the verdict


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
    reason = "replaced, or found gone, by a later visit"
    if not found.stale:
        if not _asks_in_vain(place):
            return Superseded(None, len(found.opted_out))
        reason = "nothing is left of what later visits replaced"
    done = rewrite(
        place,
        lambda record: None if identity(record) in found.stale else record,
        Cause(BY, reason, now, replacing_runs=runs),
        folders=PAGES if found.stale else (),
        even_unchanged=not found.stale,
    )
    return Superseded(done, len(found.opted_out))


def _asks_in_vain(place: Place) -> bool:
    """True where what a run replaced has gone in another way, and a version has to say that it was looked for."""
    manifest = place.manifest()
    return is_pending(manifest) and all(run["ended"] is not None for run in manifest["runs"])


def withdraw_opted_out(place: Place, *, now: float) -> int:
    """Withdraw kept pages whose newest visit found an opt-out, and leave every other version where it is.

    For archives of others, which say of no page that it is a later version. Needs memory for the pages that opted out
    only. Returns the number of pages. Raises: StorageError as `supersede`.
    """
    finish_dead_writers(place)
    opted_out = opted_out_since(place)
    _withdraw(place, opted_out, now)
    return len(opted_out)


def opted_out_since(place: Place) -> set[str]:
    """URLs of kept pages whose newest visit found an opt-out. Raises: StorageError."""
    refused = {page_key(record, "url") for record in _opted_out(place)}
    return standing(place, among=refused).opted_out if refused else set()


def _withdraw(place: Place, opted_out: set[str], now: float, replacing_runs: int | None = None) -> None:
    if opted_out:
        rule = f"opt-out found at a later visit, {rfc3339(now)}"
        wish = Wish("opted out", revoked=lambda record: record["url"] in opted_out, rule=rule, by=BY)
        withdraw(place, wish, now=now, replacing_runs=replacing_runs)


def _outlives_withdrawal(place: Place, found: Standing) -> bool:
    """True where records are left to take out once the pages that opted out are gone; reads only where some are."""
    if not found.opted_out:
        return bool(found.stale)
    going = (r for r in records_in(place, PAGES) if "reason" in r or r["url"] not in found.opted_out)
    return any(identity(record) in found.stale for record in going)


def standing(place: Place, *, among: Container[bytes] | None = None) -> Standing:
    """Read every record of the current version; needs about 0.5 kB of memory a URL. among: keys of the only pages that
    are looked at. Raises: StorageError.
    """
    return standing_of(records_in(place, PAGES), among=among)


def standing_of(records: Iterable[Record], *, among: Container[bytes] | None = None) -> Standing:
    """`standing` of records: of them url, canonical_url, crawl_id, worker_id, doc_id, crawled_at and reason count.

    Those that only say what a run left open or as it was do not: each run says that of itself.
    """
    found, best, kept, failed = Standing(), dict[bytes, _Best](), set[bytes](), dict[bytes, _Best]()
    for record in records:
        if not (is_final(record.get("reason")) or is_failure(record.get("reason"))):
            continue
        key, claim = page_key(record, "url"), _claim(record)
        if among is not None and key not in among:
            continue
        if not is_final(record.get("reason")):
            _compete(failed, key, claim, found.stale)
            continue
        if claim.canonical is not None:
            kept.add(key)
        _compete(best, key, claim, found.stale)
    winners: dict[bytes, _Best] = {}
    for claim in best.values():
        if claim.canonical is not None:
            _compete(winners, claim.canonical, claim, found.stale)
    found.stale -= {c.identity for c in best.values() if c.canonical is None or winners[c.canonical] is c}
    found.stale |= {one.identity for key, one in failed.items() if key in best and one.rank < best[key].rank}
    found.opted_out = {claim.opted_out for key, claim in best.items() if claim.opted_out and key in kept}
    return found


def read_latest(place: Place) -> Iterator[Record]:
    """The kept record of every page that still stands, also where superseded ones were not taken out yet."""
    stale = standing(place).stale if is_pending(place.manifest()) else set[bytes]()
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


def identity(record: Record) -> bytes:
    """Tells one record of a page from another: when it was fetched, by whom, and what became of it."""
    what = record.get("reason") or record.get("doc_id")
    names = (record.get("crawl_id"), record.get("worker_id"), record["url"], record.get("crawled_at"), what)
    return hashlib.blake2b("\n".join(map(str, names)).encode("utf-8", "replace"), digest_size=16).digest()


def has_opted_out(entry: Entry) -> bool:
    """Whether a file of the manifest has a record of a page that opted out."""
    counted = entry.get("reasons", {DropReason.OPTOUT: 1})  # files of older versions count none
    return entry["kind"] == REJECTED and any(name.rpartition("/")[2] == DropReason.OPTOUT for name in counted)


def _opted_out(place: Place) -> Iterator[Record]:
    for entry in read_files(place, (REJECTED,)):
        if has_opted_out(entry):
            yield from (r for r in read_records(place, entry["path"]) if r["reason"] == DropReason.OPTOUT)


def is_failure(reason: str | None) -> bool:
    """True where a visit ended in a verdict that says nothing about the page."""
    return reason is not None and Reason.of(reason).is_failure


def _claim(record: Record) -> _Best:
    kept = "reason" not in record
    return _Best(
        (record.get("crawled_at") or "", kept),
        identity(record),
        page_key(record, "canonical_url") if kept else None,
        record["url"] if record.get("reason") == DropReason.OPTOUT else "",
    )


def _compete(best: dict[bytes, _Best], key: bytes, claim: _Best, stale: set[bytes]) -> None:
    current = best.setdefault(key, claim)
    if current is claim:
        return
    if claim.rank > current.rank:
        best[key], claim = claim, current
    stale.add(claim.identity)
