"""Rejudge makes the next version of a corpus from its own archive: other settings reach the pages that are there.

A replay judges in a folder of its own what the settings can change; then one rewrite puts its records in the place of
the old ones. Until that stands nothing has changed. A page whose archive has expired keeps its verdict, and frontier
and archive stay as they are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from crawler.config import Config
from crawler.dataset.affected import Affected
from crawler.dataset.judged_again import Replay, state_of
from crawler.dataset.pages import page_key, page_name
from crawler.dataset.rewrite import (
    Decision,
    Holding,
    Rejection,
    Release,
    Rewritten,
    check_alone,
    records_in,
    rewrite,
)
from crawler.dataset.supersede import is_pending, way_out
from crawler.dataset.verify import finish_dead_writers
from crawler.dataset.versions import Cause
from crawler.storage.files.errors import AtWorkError, StorageError
from crawler.storage.files.place import ARCHIVE, PAGES, Place
from crawler.storage.files.records import Record, held_kind, is_duplicate, is_held

BY = "dataset rejudge"
"""The operation's name in the lineage."""
_OF_THE_RUN = ("crawl_id", "worker_id", "warc_file", "warc_record_id", "warc_offset")
"""Fields that name run, worker and place in the archive: they stay those of the fetch."""


@dataclass(slots=True)
class Rejudged:
    """What became of the records. version: that of the corpus now; None where nothing had to change.

    judged: pages that were judged again. same: archived pages that these settings cannot change. gained, lost: pages
    that are kept now, or not any more; held: pages that wait for a person now. expired: pages that keep their verdict
    because their archive has expired; unarchived: because none of them was archived; elsewhere: duplicates of texts
    that are not in this corpus; unreached: archived pages of which the replay has no record.
    """

    version: int | None = None
    judged: int = 0
    same: int = 0
    gained: int = 0
    lost: int = 0
    held: int = 0
    changed: int = 0
    expired: int = 0
    unarchived: int = 0
    elsewhere: int = 0
    unreached: int = 0
    free: set[str] = field(default_factory=set)  # names of pages whose text is nobody's now


def rejudge(place: Place, config: Config, *, now: float, keep_old: bool = True, quiet: bool = True) -> Rejudged:
    """Make the next version of the corpus, judged by `config`; safe to repeat after a crash at any moment.

    Its frontier is not touched, and its duplicate index is the caller's to tell (`Rejudged.free`). quiet: no live
    progress on standard error.

    Raises: AtWorkError while a worker is at work; StorageError where an archive cannot be read, or a disk fails.
    """
    finish_dead_writers(place)
    check_alone(place)
    if is_pending(place.manifest()):
        raise StorageError(f"{place.url}: later visits have replaced records that are still there: {way_out(place)}")
    state = state_of(place)
    work = _Work(place, config)
    replay = Replay(place, config, state)
    try:
        if work.count():
            replay.prepare(work.as_they_are())
            replay.run(quiet=quiet)
            if state_of(place) != state:
                raise AtWorkError(f"{place.url}: the corpus has changed meanwhile; run the same command again")
            work.found.judged = replay.collect()
            return work.stand(replay, now, keep_old=keep_old)
        return work.found
    finally:
        replay.remove()
        work.close()


class _Work:
    def __init__(self, place: Place, config: Config) -> None:
        self._place, self._config = place, config
        manifest = place.manifest()
        self._archives = {entry["path"] for entry in manifest["files"] if entry["kind"] == ARCHIVE}
        folder = place.path_of(ARCHIVE)
        self._folders = {ARCHIVE, folder if place.remote else str(Path(folder).resolve())}  # a replay names it whole
        self._affected = Affected(manifest, config, records_in(place, PAGES))
        self.found = Rejudged()
        self._names = sqlite3.connect("")  # a temporary file, where memory does not hold it
        self._names.execute("CREATE TABLE names (page BLOB PRIMARY KEY) WITHOUT ROWID")

    def close(self) -> None:
        self._names.close()

    def count(self) -> int:
        """How many archived pages may change; and what the duplicates of this corpus may repeat."""
        may = 0
        for record in records_in(self._place, PAGES):
            if not self._is_archived(record):
                expired = self._own(record) is not None
                self.found.expired += expired
                self.found.unarchived += not expired
            elif self._affected.may_change(record):
                may += 1
            else:
                self.found.same += 1
            self._names.execute("INSERT OR IGNORE INTO names VALUES (?)", [page_key(record)])
        return may

    def as_they_are(self) -> Iterator[Record]:
        """Records that the replay is to leave alone."""
        for record in records_in(self._place, PAGES):
            if self._is_archived(record):
                if not self._affected.may_change(record):
                    yield record
            elif record.get("text") and ("reason" not in record or is_held(record)):
                yield record

    def stand(self, replay: Replay, now: float, *, keep_old: bool) -> Rejudged:
        """Put the new records in the place of the old ones."""
        config = self._config
        judged_by = {
            "config_digest": config.digest,
            "judging_digest": config.judging_digest,
            "judging_parts": config.judging_parts,
        }
        cause = Cause(BY, f"judged again by {config.digest}", now, keeps_old=keep_old, judged_by=judged_by)  # type: ignore[arg-type]
        done: Rewritten = rewrite(
            self._place, lambda record: self._decide(record, replay), cause, folders=PAGES, mixed=True
        )
        self.found.version = done.version
        self.found.changed = done.changed + done.rejected + done.released + done.held
        return self.found

    def _decide(self, old: Record, replay: Replay) -> Decision:
        if not self._is_archived(old):
            return old
        new = replay.find(old)
        if new is None:
            if not self._affected.may_change(old):
                return old | {"config_digest": self._config.digest}
            self.found.unreached += 1
            return old
        if is_duplicate(old) and "reason" not in new and not self._is_here(old):
            self.found.elsewhere += 1
            return old
        return self._placed(old, new | {name: old.get(name) for name in _OF_THE_RUN})

    def _placed(self, old: Record, new: Record) -> Decision:
        before, after = _folder(old), _folder(new)
        if before != "rejected" and (after == "rejected" or old.get("doc_id") != new.get("doc_id")):
            self.found.free.add(page_name(old))
        if before == after:
            return new
        self.found.lost += before == "shards"
        if after == "shards":
            self.found.gained += 1
            return Release(new)
        if after == "rejected":
            return Rejection(new)
        self.found.held += 1
        return Holding(new)

    def _is_archived(self, record: Record) -> bool:
        return self._own(record) in self._archives and record.get("warc_offset") is not None

    def _own(self, record: Record) -> str | None:
        """The record's archive file as the manifest names it; None where it is no file of this corpus."""
        folder, _, name = str(record.get("warc_file") or "").rpartition("/")
        return f"{ARCHIVE}/{name}" if folder in self._folders else None

    def _is_here(self, duplicate: Record) -> bool:
        """Whether a duplicate repeats a page of this corpus: another crawl on the index may have the other copy."""
        owner = {"url": duplicate.get("dup_of") or ""}
        with closing(self._names.execute("SELECT 1 FROM names WHERE page = ?", [page_key(owner)])) as rows:
            return rows.fetchone() is not None


def _folder(record: Record) -> str:
    if "reason" not in record:
        return "shards"
    return f"held/{held_kind(record['reason'])}" if is_held(record) else "rejected"
