"""The corpus folder as its one writer thread sees it: archive, keep, reject, and one commit that makes them durable.

Synchronous and not thread-safe: exactly one thread calls it (`crawler/pipelines/sink.py`). No Scrapy here.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from crawler.config import Config
from crawler.document import Exchange
from crawler.policy.facts import Pace, PolicyFacts, Signed, facts_of, judging_facts_of
from crawler.storage.archive.cdxj import with_index
from crawler.storage.archive.origin import policy_fields
from crawler.storage.archive.records import Referred
from crawler.storage.archive.writer import WarcLocation, WarcWriter
from crawler.storage.corpus.claim import StoreClaim
from crawler.storage.corpus.manifest import Ledger, merge, start_run
from crawler.storage.corpus.recovery import Recovered, local_names, lock_of, recover, recover_writer
from crawler.storage.corpus.sources import hashes_of
from crawler.storage.corpus.version import register, tell_replayed
from crawler.storage.files import record_index
from crawler.storage.files.errors import RemovedError, StorageError, unwritten
from crawler.storage.files.place import ARCHIVE, HELD, HELD_KINDS, REJECTED, SHARDS, Place
from crawler.storage.files.records import Record, encode
from crawler.storage.files.shards import ShardWriter
from crawler.storage.files.throughput import Throughput
from crawler.storage.types import Origin, RunKind, Sealed
from crawler.times import rfc3339
from crawler.version import __version__

logger = logging.getLogger(__name__)

CHECKPOINT_SECONDS = 60.0
"""How often the counters of a running crawl reach its ledger."""
REMOTE_MERGE_SECONDS = 60.0
"""How often a running worker merges the manifest of a remote corpus: it reads the ledgers of all workers each time."""
UPLOAD_SECONDS = 300.0
"""With ACK_AFTER=upload: oldest age of a record in no sealed file, where SHARD_MAX_AGE_SECONDS sets none."""
UPLOAD_RECORDS = 5_000
"""With ACK_AFTER=upload: records in no sealed file, from which all files are sealed: their leases are in memory."""
MOST_UNREAD = 1_000
"""Archives that could not be read, of one run, which the manifest names; its counters have the number of all."""
LOCK_PATIENCE_SECONDS = 5.0
"""How long another worker may take to seal what our killed predecessor of the same name left."""


def random_id() -> str:
    """A random UUID as text."""
    return str(uuid.uuid4())


class Corpus:
    """One worker's writer on a corpus folder that any number of workers share.

    `open()` first, `close()` last. After any StorageError nothing more is written: what was committed stays readable,
    and the next start recovers it. `clock` returns seconds since the epoch, `new_id` a UUID for WARC records, `pace`
    the one in force; None where it is that of the configuration. `signed` says by whom requests are signed; None where
    they are not; a replay does not ask.
    """

    def __init__(
        self,
        config: Config,
        *,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = random_id,
        pace: Callable[[], Pace | None] = lambda: None,
        signed: Callable[[], Signed | None] = lambda: None,
    ) -> None:
        self._pace, self._signed = pace, signed
        self._config, self._clock, self._new_id = config, clock, new_id
        self.writer = f"{config.crawl.crawl_id}-{config.crawl.worker_id}"
        self.place = Place(config.crawl.corpus_dir, config.storage.spool_dir)
        self.token = uuid.uuid4().hex  # of this process, as others see who has the name
        self._lock = lock_of(self.place, self.writer, self.token)
        self._is_open = False
        self._claim: StoreClaim | None = None
        self.ended: list[str] = []  # tokens of processes that were killed under this name or in this folder
        self.after_commit: list[Callable[[], None]] = []  # called in the writer thread, when all records are durable
        self.kind: RunKind = "crawl"  # set it before `open`
        self.parts = 1  # processes that replay into this corpus together
        self.throughput = Throughput()
        self._failed: StorageError | None = None
        self._counters: Counter[str] = Counter()
        self._checkpoint = self._merged = 0.0
        self._unsealed_since: float | None = None  # the first record after everything was sealed
        self.taken = self.delivered = 0  # records taken so far; of these, the first that are in sealed, listed files

    def lock(self) -> str:
        """Claim the folder and this writer's name in it; answers the token of the process that was killed under it.

        That one has certainly ended; "" where there was none, or nothing is left of it. Nothing of the writer's files
        is touched yet. Raises: StorageError where the folder is foreign or unwritable, or a live process has the name.
        """
        self.place.claim()
        if not self._lock.acquire_within(LOCK_PATIENCE_SECONDS):
            raise StorageError(
                f"{self.place.url}: another live process writes as {self.writer!r}; "
                "give each worker a WORKER_ID of its own, or none"
            )
        try:
            if self.place.remote and not self._server_knows_all:
                claim = StoreClaim(self.place, self.writer, self.token)
                claim.take(self._lock.predecessor)
                self._claim = claim
        except BaseException:
            self._lock.release()
            raise
        if self._lock.predecessor:
            self.ended.append(self._lock.predecessor)
        return self._lock.predecessor

    @property
    def _server_knows_all(self) -> bool:
        """True where every worker of the crawl claims its name on one server."""
        return self.kind == "crawl" and self._config.crawl.redis_url is not None

    def open(self) -> list[Recovered]:
        """Recover what dead writers left, and begin to write; `lock` first, where that was not done.

        Raises: StorageError as `lock` does, and on a failing disk.
        """
        if not self._lock.held:
            self.lock()
        try:
            return self._open_locked()
        except BaseException:
            self.unlock()
            raise

    def unlock(self) -> None:
        """The name is free again: nothing more is written."""
        if self._claim is not None:
            self._claim.release()
            self._claim = None
        self._lock.release()

    def _open_locked(self) -> list[Recovered]:
        self._ledger = Ledger(self.place, self.writer)
        found = recover_writer(self.place, self._ledger)
        crawl = self._config.crawl
        self._run = start_run(
            self._clock(),
            crawl_id=crawl.crawl_id,
            worker_id=crawl.worker_id,
            config_digest=self._config.digest,
            judging_digest=self._config.judging_digest,
            judging_parts=self._config.judging_parts,
            policy=self._policy(),
            kind=self.kind,
        )
        self._ledger.runs.append(self._run)
        self._ledger.save()
        found += recover(self.place, skip={self.writer}, ended=self.ended)
        self._kept, self._rejected = self._shards(SHARDS), self._shards(REJECTED)
        self._held = {kind: self._shards(f"{HELD}/{kind}") for kind in HELD_KINDS}
        self._archive = self._warc()
        self._checkpoint = self._clock()
        self._is_open = True
        return found

    def archive(self, exchange: Exchange) -> WarcLocation:
        """Append an exchange to the archive; durable after the next `commit()`."""
        with self._taking("archived"):
            return self._archive.write(exchange)

    def archive_revisit(self, exchange: Exchange, referred: Referred) -> WarcLocation:
        """Append a visit that brought nothing new to the archive; durable after the next `commit()`."""
        with self._taking("revisits"):
            return self._archive.write_revisit(exchange, referred)

    def archive_tombstone(self, url: str, moment: str, content: bytes) -> WarcLocation:
        """Append a visit that found a page gone to the archive; durable after the next `commit()`."""
        with self._taking("tombstones"):
            return self._archive.write_tombstone(url, moment, content)

    def keep(self, record: Record) -> None:
        """Take the record of a kept document; durable after the next `commit()`. Raises: TypeError if it is no JSON."""
        line = encode(record)
        with self._taking("kept"):
            self._kept.add(line)
        self.taken += 1

    def reject(self, record: Record) -> None:
        """Take the record of a rejected document; durable after the next `commit()`. Raises as `keep` does."""
        line = encode(record)
        with self._taking("rejected"):
            self._rejected.add(line)
        self.taken += 1

    def hold(self, record: Record, kind: str) -> None:
        """Take the record of a page that waits for a person in `held/KIND/`; else as `keep`."""
        line = encode(record)
        with self._taking("held"):
            self._held[kind].add(line)
        self.taken += 1

    def note(self, counters: Mapping[str, int]) -> None:
        """Set counters of this run that only the crawl knows (fetched, bytes, …); they go into the manifest, with the
        next commit or, where nothing is committed any more, with the next note: a kill leaves them."""
        self._counters.update({name: value - self._counters[name] for name, value in counters.items()})
        if self._failed is None and self._is_open and self._clock() - self._checkpoint >= CHECKPOINT_SECONDS:
            with self._failing():
                self._save()

    def note_origin(self, archive: str, origin: Origin) -> None:
        """Take down what an archive that is replayed says of itself; it goes into the run with the next checkpoint."""
        self._run.setdefault("origins", {})[archive] = origin

    def note_unread(self, archive: str, why: str) -> None:
        """Take down that an archive could not be read; as `note_origin`, at most `MOST_UNREAD` of a run."""
        unread = self._run.setdefault("unread", {})
        if len(unread) < MOST_UNREAD:
            unread[archive] = why

    def commit(self) -> None:
        """Return when everything taken so far is on the disk, the archive before the records that point into it."""
        self._check()
        with self._failing():
            self._archive.commit()
            for writer in self._records():
                writer.commit()
            for call in self.after_commit:
                call()
            if self._clock() - self._checkpoint >= CHECKPOINT_SECONDS:
                self._save()
            self._seal_old()

    def rest(self) -> None:
        """Seal what is older than SHARD_MAX_AGE_SECONDS while no record comes; everything taken is committed.

        A remote ledger is saved as well: it is the sign of life of a worker that has nothing to write.
        """
        if self._failed is None and self._is_open:
            with self._failing():
                self._seal_old()
                if self.place.remote and self._clock() - self._checkpoint >= CHECKPOINT_SECONDS:
                    self._save()

    def deliver(self) -> None:
        """Seal every file now: somebody waits for what is in them. Raises: StorageError."""
        self._check()
        with self._failing():
            self._seal_all()

    def give_up(self, error: StorageError) -> None:
        """Write nothing more: whatever is asked from now on fails with this error, and `close` only lets go."""
        self._failed = error

    @property
    def acknowledges_uploads(self) -> bool:
        """True where a page of this crawl is acknowledged only when its record is in the store."""
        return self.kind == "crawl" and self.place.remote and self._config.storage.ack_after == "upload"

    def close(self) -> None:
        """Seal every file, end the run, note the version, release the lock. After a failure: only the last."""
        try:
            if self._failed is None:
                with self._failing():
                    self._seal_all()
                    for call in self.after_commit:
                        call()
                    self._note_sources()
                    self._run["ended"] = rfc3339(self._clock())
                    self._save()
                    merge(self.place)
                    tell_replayed(self.place, register(self.place))
        finally:
            self._archive.abandon()
            for writer in self._records():
                writer.abandon()
            self.unlock()

    @contextmanager
    def _taking(self, counter: str) -> Iterator[None]:
        """Something is appended in the block, and counted where that went well."""
        self._check()
        with self._failing():
            self.throughput.begin()
            if self._unsealed_since is None:
                self._unsealed_since = self._clock()
            yield
        self._counters[counter] += 1

    def _seal_old(self) -> None:
        if self._unsealed_since is None:
            return
        limit, waits = self._config.storage.shard_max_age_seconds, self.acknowledges_uploads
        limit = limit or (UPLOAD_SECONDS if waits else 0.0)
        too_many = waits and self.taken - self.delivered >= UPLOAD_RECORDS
        if too_many or (limit and self._clock() - self._unsealed_since >= limit):
            self._seal_all()

    def _seal_all(self) -> None:
        self.throughput.begin()
        self._archive.seal()
        for writer in self._records():
            writer.seal()
        self._unsealed_since = None
        self.delivered = self.taken

    def _records(self) -> tuple[ShardWriter, ...]:
        return (self._kept, self._rejected, *self._held.values())

    def _note_sources(self) -> None:
        """Put the hashes of the archives that a replay read into its run."""
        named = {path for entry in self._ledger.files.values() for path in entry.get("archives", {})}
        known = {path for run in self._ledger.runs for path in run.get("archives", {})} | self._ledger.files.keys()
        if read := hashes_of(sorted(named - known)):
            self._run["archives"] = read

    def _policy(self) -> PolicyFacts:
        return self._fetching_facts() if self.kind == "crawl" else judging_facts_of(self._config)

    def _fetching_facts(self) -> PolicyFacts:
        return facts_of(self._config, self._pace(), self._signed() if self.kind == "crawl" else None)

    def _note_pace(self) -> None:
        """Workers that come later may change it: what the run says is the fastest that was in force."""
        if self.kind == "crawl" and (pace := self._pace()) is not None:
            facts = self._run["policy"]
            facts["delay_seconds"] = min(facts["delay_seconds"], pace.delay_seconds)
            facts["requests_at_a_time"] = max(facts["requests_at_a_time"], pace.requests_at_a_time)

    def _save(self) -> None:
        self._note_pace()
        self._run["counters"] = dict(sorted(self._counters.items()))
        self._ledger.save()
        self._checkpoint = self._clock()

    def _sealed(self, path: Path, entry: Sealed) -> None:
        relative = str(path.relative_to(self.place.root))
        folder = relative.rpartition("/")[0]
        self.throughput.sealed(folder, entry)
        for name in with_index(relative):
            self.place.publish(name)
        self._ledger.add(relative, entry)
        self._save()
        if self._config.storage.index_at_seal and not relative.startswith(f"{ARCHIVE}/"):
            record_index.make_at_seal(self.place, relative, entry)
        if not self.place.remote or self._clock() - self._merged >= REMOTE_MERGE_SECONDS:
            merge(self.place)
            self._merged = self._clock()
        for name in with_index(relative):
            self.place.forget_local(name)
        self.throughput.delivered(folder)

    def _shards(self, folder: str) -> ShardWriter:
        storage = self._config.storage
        return ShardWriter(
            self.place.root / folder,
            self.writer,
            shard_format=storage.shard_format,
            max_bytes=storage.shard_max_bytes,
            max_documents=storage.shard_max_documents,
            first_number=self._next_number(folder),
            on_seal=self._sealed,
        )

    def _warc(self) -> WarcWriter:
        crawl = self._config.crawl
        info = {
            "software": f"{crawl.product_token}/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "isPartOf": crawl.crawl_id,
            "robots": "obey",
        }
        return WarcWriter(
            self.place.root / ARCHIVE,
            self.writer,
            max_bytes=self._config.storage.archive_max_bytes,
            first_number=self._next_number(ARCHIVE),
            on_seal=self._sealed,
            info=info | ({"operator": crawl.contact} if crawl.contact else {}) | policy_fields(self._fetching_facts()),
            clock=self._clock,
            new_id=self._new_id,
            compression=self._config.storage.archive_compression,
        )

    def _next_number(self, folder: str) -> int:
        return self._ledger.next_number(folder, local_names(self.place, folder))

    def _check(self) -> None:
        if self._failed is None and self._claim is not None:
            with self._failing():
                self._claim.check()
        if self._failed is not None:
            raise StorageError(str(self._failed))

    def _failing(self) -> _Failing:
        return _Failing(self.give_up, acknowledges_uploads=self.acknowledges_uploads)


class _Failing:
    """Remembers the first StorageError of a block, and turns a stray OSError into one."""

    def __init__(self, remember: Callable[[StorageError], None], *, acknowledges_uploads: bool) -> None:
        self._remember, self._acknowledges_uploads = remember, acknowledges_uploads

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, (StorageError, OSError)):
            return
        failure = unwritten(error.filename or "the corpus", error) if isinstance(error, OSError) else error
        if isinstance(failure, RemovedError) and self._acknowledges_uploads:
            failure = failure.but_not_acknowledged()
        self._remember(failure)
        if failure is not error:
            raise failure from error
