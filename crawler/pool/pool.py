"""The process pool every stage runs in: fetching never waits for parsing.

One hop to a worker process carries a page through all stages. Each task has a limit of CPU time (`cpu_limit.py`); a
worker that dies or hangs costs the one document it was working on, which comes back with a verdict. Back-pressure is
Scrapy's scraper slot: it stops fetching while too many bytes wait here.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Any, TypeVar

from pebble import ProcessExpired, ProcessPool

from crawler.config import Config
from crawler.document import Document, Drop, DropReason
from crawler.pool import cpu_limit, orphan, worker
from crawler.pool.cores import usable_cores
from crawler.pool.forkserver import QuietContext, compute_in_one_thread
from crawler.runtime import config_of, per_crawler
from crawler.stages.chain import READING, STAGES, modules
from crawler.trouble import LackError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.seeds.sitemaps import ListReader, Sitemap

logger = logging.getLogger(__name__)
T = TypeVar("T")
Runner = Callable[[Document, tuple[str, ...]], Document]

GIVEN_UP = "given_up"
"""Beside the stages' names in `Document.timings`: CPU seconds of the attempts that ended at the limit."""

_TERMINATED = (signal.SIGTERM, -signal.SIGTERM)
"""Exit codes of a worker that was told to end: pebble's handler gives the first."""
_TOLD_TO_END = 5


class PoolError(Exception):
    """The worker processes cannot be used."""


class StagePool:
    """Runs documents through the stages in worker processes.

    workers: number of processes; 0 runs everything inline in the calling thread, for debugging.
    runner: what a worker does with a document; tests put something poisonous here.
    The limit (`STAGE_TIMEOUT_SECONDS`) is CPU time of the worker on one document. patience: wall-clock seconds for each
    of these, from the moment a worker starts on it, after which a worker that only waits is given up.
    """

    def __init__(
        self,
        config: Config,
        workers: int | None = None,
        runner: Runner = worker.run_stages,
        starter: Callable[[Config], None] = worker.start,
        patience: float = cpu_limit.PATIENCE,
    ) -> None:
        wanted = config.crawl.stage_workers if workers is None else workers
        self.workers = usable_cores() if wanted < 0 else wanted
        self.timeout = config.crawl.stage_timeout_seconds
        self._patience = patience * self.timeout
        self._config = config
        self._runner = runner
        self._starter = starter
        self.rebuilds = 0  # how often the processes were started anew after the pool broke
        self._closed = False
        self._pool = self._new_pool()
        self._running: ProcessPool | None = None  # the pool whose processes have been started
        self._warm: asyncio.Future[None] | None = None
        if not self.workers:
            starter(config)

    async def run(self, doc: Document, names: tuple[str, ...] = STAGES) -> Document:
        """Take `doc` through the named stages.

        Never raises for a page's sake: a time-out, a crash or an error of ours becomes `doc.verdict`. After one of
        these a second, shorter hop still reads the links, so that a poisonous page does not hide its neighbours.
        Raises: PoolError where the processes cannot be started, or lack what the machine should give them.
        """
        await self.ready()
        try:
            done = await self._attempt(doc, names)
        except (TimeoutError, ProcessExpired, BrokenProcessPool) as error:
            verdict = _verdict_of(error, self.timeout, self._patience)
            logger.warning("stages gave up on %s: %s (%s)", doc.url, verdict.reason, verdict.detail)
            done = await self._salvage(doc, names)
            done.verdict = verdict
            done.forget_text()
            _add_lost_time(done, error, self.timeout)
        except LackError as error:
            raise PoolError(str(error)) from error
        done.exchange = doc.exchange
        return done

    async def sitemap(
        self, body: bytes, url: str, nesting: int = 0, reader: ListReader | None = None, content_type: str = ""
    ) -> Sitemap:
        """Parse a sitemap file in a worker; `nesting` is how many files led to it; `reader`: of a list that is none.

        Raises: TimeoutError, ProcessExpired, BrokenProcessPool when the file kills or outlasts its worker; PoolError
        where the processes cannot be started.
        """
        await self.ready()
        return await self._call(worker.run_sitemap, body, url, nesting, reader, content_type)

    async def call(self, function: Callable[..., T], *args: Any) -> T | Drop:
        """Anything else, such as decoding an image, under the same limits; the verdict where it outlasts or kills its
        worker. A `starter` of the caller's may load less than the stages.

        Raises: PoolError where the processes cannot be started.
        """
        await self.ready()
        try:
            try:
                return await self._call(function, *args)
            except BrokenProcessPool:
                return await self._call(function, *args)
        except (TimeoutError, ProcessExpired, BrokenProcessPool) as error:
            return _verdict_of(error, self.timeout, self._patience)

    def start_loading(self) -> None:
        """Have the fork server import the stages and their libraries, while this process does something else.

        For who knows that there is work: it takes seconds, and nothing else has to wait for it.
        """
        if self._pool is not None:
            forkserver.ensure_running()

    async def ready(self) -> None:
        """Start the processes and load the models at the first call; every later one awaits the same start.

        A second run over an unchanged site never calls it. Raises: PoolError saying why the workers cannot work.
        """
        if self._warm is None:
            self._warm = asyncio.ensure_future(self.warm_up())
        await asyncio.shield(self._warm)

    async def warm_up(self) -> None:
        """Load the models before the first page arrives, without holding up the reactor.

        Raises: PoolError saying why the workers cannot work.
        """
        try:
            problems = await self._problems()
        except BrokenProcessPool:
            problems = await self._second_start()
        except (ProcessExpired, TimeoutError) as error:
            raise PoolError(f"the stage workers do not start ({type(error).__name__})") from error
        if any(problems):
            raise PoolError(f"the stage workers cannot load their models: {max(problems)}")

    async def _problems(self) -> list[str]:
        return await asyncio.gather(*(self._call(worker.check) for _ in range(max(1, self.workers))))

    async def _second_start(self) -> list[str]:
        """A process that dies while it starts breaks the whole pool; one may have been hit by chance, not two."""
        try:
            return await self._problems()
        except (BrokenProcessPool, ProcessExpired, TimeoutError) as error:
            raise PoolError(f"the stage workers do not start ({type(error).__name__})") from error

    def close(self) -> None:
        """Stop the workers; tasks that are still running are abandoned (their leases are released elsewhere)."""
        self._closed = True
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()

    async def _attempt(self, doc: Document, names: tuple[str, ...]) -> Document:
        """A pool that breaks takes every task in it along, hundreds in a replay: the new pool does them once more."""
        try:
            return await self._call(self._runner, doc, names)
        except BrokenProcessPool:
            return await self._call(self._runner, doc, names)

    async def _salvage(self, doc: Document, names: tuple[str, ...]) -> Document:
        reading = tuple(name for name in names if name in READING)
        if reading:
            try:
                done: Document = await self._call(self._runner, doc, reading)
            except (TimeoutError, ProcessExpired, BrokenProcessPool) as error:
                logger.warning("the links of %s cannot be read either", doc.url)
                _add_lost_time(doc, error, self.timeout)
            else:
                return done
        doc.html = b""
        return doc

    async def _call(self, function: Callable[..., T], *args: Any) -> T:
        """A worker that is told to end (SIGTERM to a process group) says nothing of its task: another one does it."""
        for _ in range(_TOLD_TO_END):
            try:
                return await self._called(function, *args)
            except ProcessExpired as error:
                if error.exitcode not in _TERMINATED:
                    raise
        raise PoolError("the stage workers are told to end (SIGTERM) again and again")

    async def _called(self, function: Callable[..., T], *args: Any) -> T:
        pool = self._pool
        if pool is None:
            return function(*args)
        exchange, args = _without_exchange(args)
        try:
            return await asyncio.wrap_future(await self._scheduled(pool, function, args))
        except BrokenProcessPool:
            self._rebuild(pool)
            raise
        except RuntimeError:
            if pool.active or self._closed:
                raise
            self._rebuild(pool)  # it broke before this task was in it: the next one takes it
            return await self._called(function, *args)
        finally:
            if exchange is not None:
                args[0].exchange = exchange

    async def _scheduled(self, pool: ProcessPool, function: Callable[..., T], args: tuple[Any, ...]) -> Any:
        """The task's future. The first task starts the processes, which takes seconds: that is done in a thread."""
        args = (self.timeout, function, *args)
        has_started = pool is self._running
        if has_started:
            return pool.schedule(cpu_limit.within, args=args, timeout=self._patience)
        future = await asyncio.to_thread(pool.schedule, cpu_limit.within, args=args, timeout=self._patience)
        self._running = pool
        return future

    def _rebuild(self, broken: ProcessPool) -> None:
        if self._pool is broken:  # every task in work learns of it; the first one rebuilds
            logger.warning("the stage pool broke and is rebuilt")
            self.rebuilds += 1
            self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPool | None:
        if not self.workers:
            return None
        compute_in_one_thread()
        context = QuietContext()
        crawl = replace(self._config.crawl, stage_workers=self.workers)
        loaded = ["crawler.pool.worker", *modules(replace(self._config, crawl=crawl))]
        context.set_forkserver_preload(["crawler.pool.unwatched", *loaded, "crawler.pool.freeze"])
        return ProcessPool(
            self.workers, initializer=orphan.started, initargs=(self._starter, self._config), context=context
        )


@per_crawler
def pool_of(crawler: Crawler) -> StagePool:
    """The one pool of this crawler; its processes start with the first page."""
    return StagePool(config_of(crawler))


def _without_exchange(args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The raw exchange holds the body a second time: it stays in this process."""
    if args and isinstance(args[0], Document):
        exchange, args[0].exchange = args[0].exchange, None
        return exchange, args
    return None, args


def _has_used_its_time_up(error: Exception) -> bool:
    return isinstance(error, ProcessExpired) and error.exitcode == cpu_limit.EXIT_CODE


def _add_lost_time(doc: Document, error: Exception, timeout: float) -> None:
    """The timings of a killed worker die with it; of one that used its time up it is known how much that was."""
    if _has_used_its_time_up(error):
        doc.timings[GIVEN_UP] = doc.timings.get(GIVEN_UP, 0.0) + timeout


def _verdict_of(error: Exception, timeout: float, patience: float) -> Drop:
    if isinstance(error, TimeoutError):
        return Drop("stages", DropReason.STAGE_TIMEOUT, f"no answer after {patience:g} s")
    if _has_used_its_time_up(error):
        return Drop("stages", DropReason.STAGE_TIMEOUT, f"longer than {timeout:g} s of CPU time")
    return Drop("stages", DropReason.STAGE_CRASHED, f"worker process ended: {type(error).__name__}")
