"""Archives through the same pipelines, without a network: after the spider, live crawl and replay are one.

Pages keep the order of the archives, whatever the timing of the workers: a document enters the pipelines when the one
before it has been handed to the corpus writer. So verdicts that depend on order (which copy of a text came first) and
the bytes of the shards repeat. A replay that was cut off goes on behind its bookmarks.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Spider, signals
from scrapy.exceptions import CloseSpider

from crawler.config import Config
from crawler.dedup.loading import remember
from crawler.document import Document, DropReason
from crawler.documents.from_archive import (
    UNKNOWN,
    compare_with_past,
    document_from_archive,
    document_of_problem,
    name_of,
    recorded_name,
)
from crawler.pipelines.duplicate_index import index_of, release
from crawler.pipelines.segments import first_segment
from crawler.pipelines.sink import Sink, sink_of
from crawler.pool.pool import StagePool, pool_of
from crawler.recrawl.visit import text_digest
from crawler.runtime import config_of
from crawler.scheduler.engine_view import EngineView
from crawler.spiders.arguments import ReplayPlan, read_replay_arguments, replay_unless_expired
from crawler.spiders.read_ahead import Found, take
from crawler.statkeys import (
    FATAL,
    PASSED_OVER,
    PASSED_OVER_NAMES,
    RECORDED_BEFORE,
    REPLAY,
    UNREAD_ARCHIVES,
    UNREAD_ARCHIVES_SAID,
)
from crawler.storage.archive.names import check_name, shown
from crawler.storage.archive.places import find
from crawler.storage.archive.reader import Archive, ArchivedResponse, ReadProblem
from crawler.storage.archive.remote import members_of, sizes_of
from crawler.storage.corpus.bookmarks import Bookmark, Bookmarks, Spot, spot_of, spots_behind
from crawler.storage.files.errors import ArchiveError, StorageError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

WINDOW = 512
"""Documents ahead of the one whose turn it is, for each stage process.

While a page of 2.5 MB takes ten seconds at the head, the other processes work on: 16 were done in one, and then idle.
"""
WINDOW_BYTES = 32 * 2**20
"""Bodies ahead, for each stage process: what bounds the memory where pages are large."""
MOST_SAID = 5
"""Archives that could not be read, and files that are none, which the summary names."""


@dataclass(slots=True)
class Step:
    """One document to come, or (None) records that bring none; `mark` is reached when it has been handed over.

    size: bytes of the body; judged: of all archives up to here.
    """

    doc: asyncio.Future[Document] | None
    archive: str
    mark: Bookmark
    size: int = 0
    judged: int = 0


class ReplaySpider(Spider):
    """`gristmill crawl replay -a archive=PLACE [-a part=K/N] [-a anonymous=yes]`: archived pages are judged again."""

    name = "replay"
    check_arguments = staticmethod(replay_unless_expired)
    config: Config
    plan: ReplayPlan
    pool: StagePool
    hop: tuple[str, ...]
    sink: Sink
    bookmarks: Bookmarks
    _handed_over: asyncio.Event  # the document whose turn it is has its place in the writer's order
    _current: Document | None = None
    _sizes: dict[str, int | None]  # bytes by archive
    _bytes_before = 0  # in the archives that are read
    custom_settings = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}  # noqa: RUF012  # Scrapy's own declaration

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Read and check the arguments.

        Raises: InputError naming every problem.
        """
        spider = super().from_crawler(crawler, *args)
        spider.config = config_of(crawler)
        spider.plan = read_replay_arguments(kwargs)
        spider.pool = pool_of(crawler)
        spider.pool.start_loading()
        spider.hop = first_segment(crawler.settings)
        spider.sink = sink_of(crawler)
        spider.sink.corpus.kind, spider.sink.corpus.parts = "replay", spider.plan.parts
        spider.bookmarks = Bookmarks(spider.sink.corpus.place, spider.config.crawl.crawl_id, spider.config.digest)
        spider._handed_over = asyncio.Event()
        spider._listen(crawler)
        return spider

    def _listen(self, crawler: Crawler) -> None:
        """A document's turn is over when its record is with the writer, or when it ended without one."""
        self.sink.on_taken.append(self._handed_over.set)
        self.sink.on_failure.append(lambda _error: self._handed_over.set())
        self.sink.corpus.after_commit.append(self.bookmarks.save)
        crawler.signals.connect(self._opened, signals.spider_opened)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._ended, signal)

    def _opened(self) -> None:
        self._stats.set_value(f"{REPLAY}archives", 0)  # until they are listed: who looks shows archives and no queue

    def _ended(self, item: Document) -> None:
        if item is self._current:
            self._handed_over.set()

    async def start(self) -> AsyncIterator[Any]:
        """Send one judged document per archived page through the pipelines, in the order of the archives.

        Through the engine's own door, since Scrapy forgets a closing spider behind what `start` yields. A page that
        met trouble keeps its place before the bookmark: the next run takes it again.
        """
        engine, works = EngineView(self.crawler), set[asyncio.Task[None]]()
        try:
            async with aclosing(self._in_order()) as steps:
                async for step in steps:
                    if step.doc is not None:
                        self._current = await step.doc
                        await self._let_go(self._current)
                        if engine.closing:
                            break
                        self._handed_over.clear()
                        engine.expect()
                        work = asyncio.ensure_future(engine.scrape(self._current))
                        works.add(work)
                        work.add_done_callback(works.discard)
                        await self._handed_over.wait()
                    if engine.closing or self._stats.get_value(FATAL):
                        break
                    self.sink.tell(partial(self.bookmarks.reach, step.archive, step.mark))
                    self._stats.set_value(f"{REPLAY}bytes_judged", step.judged)
            await asyncio.gather(*works)
        except StorageError as error:
            self._stats.set_value(FATAL, str(error))
            raise CloseSpider("storage_error") from error
        documents: tuple[Any, ...] = ()
        for document in documents:  # what an async generator needs, although nothing is yielded from here
            yield document

    async def _let_go(self, doc: Document) -> None:
        """The text that this page showed at an earlier visit is free for the pages behind it, as in the crawl."""
        is_final = doc.verdict is None or doc.verdict.reason.is_final
        if is_final and doc.former_text and doc.former_text != text_digest(doc.doc_id):
            await release(self.crawler, doc)

    async def _in_order(self) -> AsyncGenerator[Step, None]:
        """The steps as they come, with a window of documents in work; a replay that is stopped gives them up."""
        window: deque[Step] = deque()
        processes, held = max(1, self.pool.workers), 0
        try:
            async with aclosing(self._steps()) as steps:
                async for step in steps:
                    window.append(step)
                    held += step.size
                    while len(window) >= WINDOW * processes or held > WINDOW_BYTES * processes:
                        held -= window[0].size
                        yield window.popleft()
            while window:
                yield window.popleft()
        finally:
            for doc in [step.doc for step in window if step.doc is not None]:
                doc.cancel()

    async def _steps(self) -> AsyncGenerator[Step, None]:
        archives = await self._archives()
        marks = {name: self.bookmarks.of(name) for name in archives}
        done = await self._resumed(marks)
        await asyncio.to_thread(self._measure, marks)
        for name in archives:
            if marks[name].finished:
                continue
            lock = self.bookmarks.claim(name)
            try:
                self._check_alone(name, marks[name])
                async with aclosing(self._steps_of(name, marks[name], done)) as steps:
                    async for step in steps:
                        yield step
            except ArchiveError as error:
                self._give_up(name, error)
            finally:
                lock.release()

    async def _archives(self) -> list[str]:
        """The archives of this process's part, those of a WACZ one by one; what cannot be read at all is told."""
        plan = self.plan
        found = await asyncio.to_thread(find, plan.archive, anonymous=plan.anonymous, base=plan.base)
        if others := found.others:
            self.logger.warning("%s", found.passed_over)
            self._count(PASSED_OVER.removeprefix(REPLAY), len(others))
            self._stats.set_value(PASSED_OVER_NAMES, [shown(name) for name in others[:MOST_SAID]])
        archives: list[str] = []
        for name in plan.share(found.archives):
            try:
                check_name(name)
                archives += await asyncio.to_thread(members_of, name, anonymous=plan.anonymous)
            except ArchiveError as error:
                self._give_up(shown(name), error)
        return archives

    def _give_up(self, name: str, error: ArchiveError) -> None:
        """An archive that cannot be read, or not to its end, costs itself: all others are read."""
        self.logger.warning("%s", error)
        self._count(UNREAD_ARCHIVES.removeprefix(REPLAY))
        if len(said := self._stats.get_value(UNREAD_ARCHIVES_SAID, [])) < MOST_SAID:
            self._stats.set_value(UNREAD_ARCHIVES_SAID, [*said, str(error)])
        self.sink.tell(partial(self.sink.corpus.note_unread, name, str(error)))

    def _check_alone(self, name: str, mark: Bookmark) -> None:
        """Raises: StorageError where another process has replayed the archive since this one looked."""
        if self.bookmarks.of(name) != mark:
            raise StorageError(f"{name}: another process has just replayed it into this corpus; run the command again")

    async def _resumed(self, marks: dict[str, Bookmark]) -> set[Spot]:
        """What the corpus has of these archives; its texts are made known to a duplicate index that forgets.

        Of several parts each compares its own documents alone: whether another part has ended decides nothing.
        """
        place = self.sink.corpus.place
        done = await asyncio.to_thread(spots_behind, place, marks, partial(name_of, config=self.config))
        if done or self.plan.parts == 1 or any(mark.offset or mark.finished for mark in marks.values()):
            await remember(index_of(self.crawler), self.config, place)
        return done

    async def _steps_of(self, name: str, mark: Bookmark, done: set[Spot]) -> AsyncGenerator[Step, None]:
        limit = max(self.config.policy.max_body_bytes, self.config.documents.max_bytes)
        archive = Archive(name, start=mark.offset, max_bytes=limit, anonymous=self.plan.anonymous)
        found, offset, before = iter(archive), mark.offset, self._bytes_before
        while (taken := await asyncio.to_thread(take, found)).items or taken.error:
            if archive.origin:
                self.sink.tell(partial(self.sink.corpus.note_origin, name, archive.origin))
            for item in taken.items:
                offset = max(offset, item.offset)
                if self._spot(item) in done:
                    self._count(RECORDED_BEFORE.removeprefix(REPLAY))
                else:
                    size = len(item.body) if isinstance(item, ArchivedResponse) else 0
                    yield Step(self._judged(item), name, Bookmark(offset), size, before + offset)
            if taken.error is not None:
                self._passed(archive)
                yield Step(None, name, Bookmark(offset), judged=self._bytes_before)
                raise taken.error
            yield Step(None, name, Bookmark(offset), judged=before + offset)
        self._passed(archive)
        self._count("archives_finished")
        yield Step(None, name, Bookmark(offset, finished=True), judged=self._bytes_before)

    def _spot(self, item: Found) -> Spot:
        return spot_of(item.file, item.offset, item.record_id, recorded_name(item, self.config))

    def _judged(self, item: Found) -> asyncio.Future[Document]:
        if isinstance(item, ReadProblem):
            self._count("broken_records")
            self.logger.warning("%s at byte %d: %s", item.file, item.offset, item.what)
            return _ready(document_of_problem(item, self.config))
        doc = document_from_archive(item, self.config)
        if doc.verdict is not None and doc.verdict.reason is DropReason.BROKEN_RECORD:
            self._count("broken_records")
            self.logger.warning("%s at %s", item.file, doc.verdict.detail)
        self._count(f"kind/{item.kind}")
        if doc.robots_status == UNKNOWN:
            self._count("robots_unknown")
        if item.kind == "tombstone" or doc.change_count:
            self._count("later_versions")
        return asyncio.ensure_future(self._through(doc)) if doc.html or doc.verdict is None else _ready(doc)

    async def _through(self, doc: Document) -> Document:
        return compare_with_past(await self.pool.run(doc, self.hop), self.config)

    # --- what people see ---------------------------------------------------------------------------------------------
    @property
    def _stats(self) -> StatsCollector:
        assert self.crawler.stats is not None
        return self.crawler.stats

    def _measure(self, marks: dict[str, Bookmark]) -> None:
        """For the progress: bytes of all archives that are left, where every server says them. In a thread."""
        archives = [name for name, mark in marks.items() if not mark.finished]
        self._count("archives_finished_before", len(marks) - len(archives))
        sizes = sizes_of(archives, anonymous=self.plan.anonymous)
        self._sizes = dict(zip(archives, sizes, strict=True))
        stats = self._stats
        stats.set_value(f"{REPLAY}archives", len(archives))
        stats.set_value(f"{REPLAY}bytes_judged", sum(marks[name].offset for name in archives[:1]))
        if None not in sizes:
            stats.set_value(f"{REPLAY}bytes_total", sum(size or 0 for size in sizes))

    def _passed(self, archive: Archive) -> None:
        for kind, count in archive.skipped.items():
            self._count(f"skipped/{kind}", count)
        self._bytes_before += self._sizes[archive.name] or archive.offset

    def _count(self, noun: str, count: int = 1) -> None:
        self._stats.inc_value(REPLAY + noun, count)


def _ready(doc: Document) -> asyncio.Future[Document]:
    future: asyncio.Future[Document] = asyncio.get_running_loop().create_future()
    future.set_result(doc)
    return future
