"""The sink writes what the pipelines hand over, with group commit in one writer thread.

`await sink.keep(record)` returns after the fsync that covers the record; many waiters share one fsync. Compression and
disk work happen in the thread and never hold up the reactor.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.document import Exchange
from crawler.middlewares.signature import request_signer_of
from crawler.policy.facts import Signed
from crawler.runtime import config_of, per_crawler
from crawler.scheduler.scheduler import clock_of, pace_of
from crawler.storage.archive.records import Referred
from crawler.storage.archive.writer import WarcLocation
from crawler.storage.corpus.corpus import Corpus
from crawler.storage.corpus.recovery import Recovered
from crawler.storage.files.errors import StorageError
from crawler.storage.files.records import Record

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

MAX_BATCH = 256
"""Waiting records that trigger a commit before `commit_seconds` are over."""
REST_SECONDS = 1.0
"""How often a writer without work looks whether something has become too old to stay unsealed."""


@dataclass(slots=True)
class _Job:
    """One call for the writer thread. `durable` jobs are answered by the next commit, the others at once.

    `told` and `last` jobs are no page's: whatever goes wrong in them is the end of the corpus.
    """

    call: Callable[[], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop
    durable: bool = False
    last: bool = False
    told: bool = False
    result: Any = None


class Sink:
    """Durable output for one crawler. `await open()` before the first page, `await close()` after the last.

    After a StorageError every waiter and every later call fails with it, `failed` holds it, and the callbacks in
    `on_failure` have run once in the event loop: the place to stop the crawl with an exit code other than 0. An error
    of the writer thread that nobody expects becomes a StorageError, too. `on_taken`
    runs in the event loop whenever a record has got its place in the order of the writer thread.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        commit_seconds: float = 0.2,
        max_batch: int = MAX_BATCH,
        rest_seconds: float | None = None,
    ) -> None:
        self.corpus = corpus
        self._rest_seconds = rest_seconds
        self.failed: StorageError | None = None
        self.on_failure: list[Callable[[StorageError], None]] = []
        self.on_taken: list[Callable[[], None]] = []
        self._commit_seconds, self._max_batch = commit_seconds, max_batch
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._undelivered: deque[tuple[int, asyncio.Future[None]]] = deque()  # by number of the record, smallest first
        self._told = 0  # writer thread: records whose delivery the loop has heard of

    async def open(self, claim: Callable[[str, str], Awaitable[None]] | None = None) -> list[Recovered]:
        """Start the writer thread and open the corpus; returns what was recovered from dead writers.

        `claim` is awaited with the tokens of this process and of one that was killed under its name, before anything
        of that name is touched. Raises: StorageError where the folder is foreign, unwritable, or written under this
        name by a live process; whatever `claim` does.
        """
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="corpus-writer", daemon=True)
        self._thread.start()
        try:
            predecessor: str = await self._submit(self.corpus.lock)
            if claim is not None:
                await claim(self.corpus.token, predecessor)
            found: list[Recovered] = await self._submit(self.corpus.open)
        except BaseException:
            await self._end(self.corpus.unlock)
            raise
        return found

    @property
    def is_open(self) -> bool:
        """True from the moment in which the corpus begins to be opened until it begins to be closed."""
        return self._thread is not None

    async def archive(self, exchange: Exchange) -> WarcLocation:
        """Append an exchange to the archive and say where it is.

        It becomes durable with the next commit, which syncs the archive before any record: the `keep` or `reject` of
        the same page covers it. Raises: StorageError.
        """
        location: WarcLocation = await self._submit(lambda: self.corpus.archive(exchange))
        return location

    async def archive_revisit(self, exchange: Exchange, referred: Referred) -> WarcLocation:
        """Append a visit that brought nothing new, as `archive` does with a page. Raises: StorageError."""
        location: WarcLocation = await self._submit(lambda: self.corpus.archive_revisit(exchange, referred))
        return location

    async def archive_tombstone(self, url: str, moment: str, content: bytes) -> WarcLocation:
        """Append what was decided on a page that is gone, as `archive` does with a page. Raises: StorageError."""
        location: WarcLocation = await self._submit(lambda: self.corpus.archive_tombstone(url, moment, content))
        return location

    async def keep(self, record: Record) -> None:
        """Return when the record of a kept document is durable. Raises: StorageError; TypeError if it is no JSON."""
        await self._submit(lambda: self.corpus.keep(record), durable=True)

    async def hold(self, record: Record, kind: str) -> None:
        """Return when the record of a page in `held/KIND/` is durable. Raises as `keep` does."""
        await self._submit(lambda: self.corpus.hold(record, kind), durable=True)

    async def reject(self, record: Record) -> None:
        """Return when the record of a rejected document is durable. Raises as `keep` does."""
        await self._submit(lambda: self.corpus.reject(record), durable=True)

    def delivery(self) -> asyncio.Future[None] | None:
        """Done when every record taken until now is in a file that is uploaded and listed; None: nothing to wait for.

        Nothing is to be waited for where CORPUS_DIR is a folder, or ACK_AFTER=spool. The future fails with the sink.
        """
        if not self.corpus.acknowledges_uploads:
            return None
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.failed is not None:
            future.set_exception(StorageError(str(self.failed)))
        elif (number := self.corpus.taken) <= self.corpus.delivered:
            future.set_result(None)
        else:
            self._undelivered.append((number, future))
        return future

    def hasten(self) -> None:
        """Somebody waits for a delivery and nothing else is left to do: seal and upload now."""
        if self._undelivered and self._thread is not None and self.failed is None:
            self.tell(self.corpus.deliver)

    async def note(self, counters: Mapping[str, int]) -> None:
        """Hand over counters of this run (fetched, bytes, …) for the manifest."""
        snapshot = dict(counters)
        await self._submit(lambda: self.corpus.note(snapshot))

    def tell(self, call: Callable[[], None]) -> None:
        """Have the writer thread run `call` behind everything handed over so far; nobody waits for it."""
        loop = asyncio.get_running_loop()
        self._jobs.put(_Job(call, loop.create_future(), loop, told=True))

    async def close(self) -> None:
        """Seal every file, write the manifest and end the thread. Safe to call twice. Raises: StorageError."""
        if self._thread is not None:
            await self._end(self.corpus.close)

    async def _end(self, last_call: Callable[[], None]) -> None:
        thread, self._thread = self._thread, None
        try:
            await self._submit(last_call, last=True)
        finally:
            if thread is not None:
                thread.join()  # it has given its last answer: no wait worth a word

    async def _submit(self, call: Callable[[], Any], *, durable: bool = False, last: bool = False) -> Any:
        if self.failed is not None and not last:
            raise StorageError(str(self.failed))
        if self._thread is None and not last:
            raise StorageError("the sink is not open")
        loop = asyncio.get_running_loop()
        job = _Job(call, loop.create_future(), loop, durable, last)
        self._jobs.put(job)
        if durable:
            for callback in self.on_taken:
                callback()
        return await job.future

    # --- writer thread -----------------------------------------------------------------------------------------------
    def _work(self) -> None:
        waiting: list[_Job] = []
        try:
            self._serve(waiting)
        except BaseException as error:  # whatever it is: without this thread every page would wait for ever
            self._refuse(waiting, self._broken(error))

    def _serve(self, waiting: list[_Job]) -> None:
        deadline = 0.0
        while True:
            try:
                job = self._jobs.get(timeout=max(0.0, deadline - time.monotonic()) if waiting else self._rest_seconds)
            except queue.Empty:
                self._commit(waiting) if waiting else self._rest()
                continue
            if job.last:
                self._commit(waiting)
            deadline = deadline if waiting else time.monotonic() + self._commit_seconds
            waiting.append(job)  # at once: in this list it is answered, whatever happens here
            if not self._perform(job):
                waiting.pop()
            if job.last:
                return
            if len(waiting) >= self._max_batch:
                self._commit(waiting)

    def _refuse(self, waiting: list[_Job], error: StorageError) -> None:
        """Tell everybody who waits and everybody who comes, until the last job, which lets go of the folder."""
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._resolve, list(waiting), error)
        while not any(job.last for job in waiting):
            job = self._jobs.get()
            waiting.append(job)
            if job.last:
                self._perform(job)
            else:
                self._answer([job], error)

    def _broken(self, error: BaseException) -> StorageError:
        """What this error is to the crawl: nothing more is written, and nothing more acknowledged."""
        if isinstance(error, StorageError):
            return error
        logger.error("the thread that writes the corpus failed", exc_info=error)
        failure = StorageError(
            f"the corpus cannot be written: {type(error).__name__}: {error}; what was acknowledged is on the disk, the "
            "same command continues once the cause is gone"
        )
        self.corpus.give_up(failure)
        return failure

    def _rest(self) -> None:
        try:
            self.corpus.rest()
        except StorageError as error:  # the corpus refuses whatever comes next, and whoever brings it is told
            logger.error("%s", error)  # noqa: TRY400  # a sentence for people, no traceback
        self._tell_delivered()

    def _tell_delivered(self) -> None:
        if self._loop is None or (number := self.corpus.delivered) == self._told:
            return
        self._told = number
        with suppress(RuntimeError):  # a loop that is closed has nobody waiting
            self._loop.call_soon_threadsafe(self._deliver, number)

    def _perform(self, job: _Job) -> bool:
        """Run a job. True where its answer has to wait for the commit."""
        try:
            job.result = job.call()
        except BaseException as error:  # handed to the waiter, whatever it is
            self._answer([job], self._broken(error) if job.last or job.told else error)
            return False
        if not job.durable:
            self._answer([job], None)
        return job.durable

    def _commit(self, waiting: list[_Job]) -> None:
        if not waiting:
            return
        error: StorageError | None = None
        try:
            self.corpus.commit()
        except BaseException as problem:  # handed to every waiter, whatever it is
            error = self._broken(problem)
        self._answer(list(waiting), error)
        waiting.clear()

    def _answer(self, jobs: list[_Job], error: BaseException | None) -> None:
        """Resolve the futures in their loop; a loop that is closed has nobody waiting."""
        self._tell_delivered()
        try:
            jobs[0].loop.call_soon_threadsafe(self._resolve, jobs, error)
        except RuntimeError:
            return

    def _deliver(self, number: int, error: StorageError | None = None) -> None:
        """Everything up to this record is in the store; or, with `error`, will not be."""
        while self._undelivered and self._undelivered[0][0] <= number:
            _, future = self._undelivered.popleft()
            if not future.done():
                future.set_exception(error) if error else future.set_result(None)

    def _resolve(self, jobs: list[_Job], error: BaseException | None) -> None:
        if isinstance(error, StorageError) and self.failed is None:
            self.failed = error
            self._deliver(self.corpus.taken, error)
            for callback in self.on_failure:
                callback(error)
        for job in jobs:
            if job.future.done():
                continue
            if error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(error)


@per_crawler
def sink_of(crawler: Crawler) -> Sink:
    """The one sink of a crawler, made on first use from its configuration and not yet open."""
    config = config_of(crawler)
    storage = config.storage
    corpus = Corpus(config, clock=clock_of(crawler), pace=pace_of(crawler), signed=lambda: _signed(crawler))
    rest = REST_SECONDS if storage.shard_max_age_seconds or corpus.acknowledges_uploads else None
    return Sink(corpus, commit_seconds=storage.commit_seconds, rest_seconds=rest)


def _signed(crawler: Crawler) -> Signed | None:
    """Raises: ConfigError where the key is unusable."""
    signer = request_signer_of(crawler)
    return None if signer is None else Signed(signer.agent, signer.keyid)
