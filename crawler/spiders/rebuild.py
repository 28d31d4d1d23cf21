"""A crawl whose frontier was lost while its documents are there: what it had finished is told to a new frontier.

The seen-set is made again of the records, the duplicate index of the kept texts, and the queue of the links on the
archived pages. What was not finished, and was found on no page that is archived, is found again from the seeds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from crawler.number import number_of
from crawler.server.errors import FrontierError

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.dedup.index import DedupIndex
    from crawler.document import Document
    from crawler.frontier.client import Frontier
    from crawler.seeds.scope import Scope
    from crawler.stages.chain import Chain
    from crawler.storage.files.place import Place
    from crawler.urls.canonicalize import Address

log = logging.getLogger(__name__)

BATCH = 256
"""Records a step: what bounds the memory."""
_LOCK_SECONDS = 7 * 86_400.0
_UNFINISHED = "rebuild"
"""Blob that stands while the frontier is being rebuilt: whoever finds it begins again."""


class LostFrontierError(FrontierError):
    """The frontier is gone, and cannot be made again from what is there; the text says what to do."""


@dataclass(slots=True)
class Rebuilt:
    """What was found: finished URLs, texts in the duplicate index, links put into the queue, pages without links."""

    finished: int = 0
    texts: int = 0
    links: int = 0
    unread: int = 0


async def rebuild_if_lost(frontier: Frontier, config: Config, server: str, scope: Scope) -> Rebuilt | None:
    """Make the frontier again where it knows nothing of a crawl that has records. None where nothing was lost.

    server: address of the frontier's server. scope: what the arguments of this start say. One worker does it, all
    others that start meanwhile wait. Raises: LostFrontierError, StorageError, DedupError.
    """
    from crawler.storage.files.place import Place

    place = Place(config.crawl.corpus_dir, config.storage.spool_dir)
    while await _is_lost(frontier, config, place):
        async with frontier.shared.single_flight(_UNFINISHED, _LOCK_SECONDS) as first:
            if first and await _is_lost(frontier, config, place):
                return await _rebuild(frontier, config, server, scope, place)
    return None


async def _is_lost(frontier: Frontier, config: Config, place: Place) -> bool:
    from crawler.frontier.adopt import reclaim
    from crawler.frontier.claims import bearer_of
    from crawler.frontier.model import REOPENED

    counts = await frontier.counts()
    works = counts.done + counts.dead > 0 or await frontier.visits.has_been_swept()
    works = works or await frontier.shared.get_blob(REOPENED) is not None  # all it knew of is tried again
    if works and await frontier.shared.get_blob(_UNFINISHED) is None:
        return False
    ended = list[str]()
    has_records = await asyncio.to_thread(_has_records, config, place, ended)
    for bearer in filter(None, map(bearer_of, ended)):
        await reclaim(frontier, bearer)  # nobody else learns of them: their locks are gone
    return has_records


def _has_records(config: Config, place: Place, ended: list[str]) -> bool:
    """`ended` takes the tokens of the processes that were killed."""
    from crawler.dataset.verify import finish_dead_writers
    from crawler.storage.files.place import LEDGERS, MANIFEST

    if not place.remote and (place.load_json(MANIFEST) is not None or place.listing(LEDGERS)):
        finish_dead_writers(place, ended)  # in an object store nothing tells a dead worker from one at work
    return any(_is_finished(record) for record in _records(config, place))


def _is_finished(record: dict[str, Any]) -> bool:
    """Whether a frontier that knows of no finished URL has lost this one: what is on hold was never finished."""
    from crawler.dataset.supersede import is_failure
    from crawler.dataset.verify import is_final

    return is_final(record.get("reason")) or is_failure(record.get("reason"))


async def _rebuild(frontier: Frontier, config: Config, server: str, scope: Scope, place: Place) -> Rebuilt:
    from crawler.frontier.seeding import join_scope

    if await frontier.shared.scope_get() is None and not (scope.link_hosts or scope.listed_hosts or scope.entries):
        raise LostFrontierError(
            f"{place.url} holds documents of crawl {config.crawl.crawl_id!r} that its frontier does not know (was it "
            "emptied or lost?), and nothing says what the crawl may fetch: give the seeds again (-a url=…, …)"
        )
    log.warning(
        "%s holds documents of crawl %r that its frontier does not know (was it emptied or lost?): rebuilding it "
        "from the records and the archive",
        place.url,
        config.crawl.crawl_id,
    )
    await frontier.shared.put_blob(_UNFINISHED, b"1", _LOCK_SECONDS)
    rules = await join_scope(frontier, scope)
    found = Rebuilt()
    await _adopt(frontier, config, place, found)
    await _claim(config, place, server, found)
    await _follow(frontier, config, place, rules, found)
    await frontier.shared.put_blob(_UNFINISHED, b"0", 0.001)
    log.warning(
        "the frontier is rebuilt: %d finished URLs, %d texts in the duplicate index, %d links in the queue%s",
        found.finished,
        found.texts,
        found.links,
        f", {number_of(found.unread, 'page is', 'pages are')} no longer in the archive, so that links are unknown"
        if found.unread
        else "",
    )
    return found


# --- what is finished ------------------------------------------------------------------------------------------------
def _records(config: Config, place: Place) -> Iterator[dict[str, Any]]:
    """Every kept, held and rejected record of this crawl."""
    from crawler.storage.files.place import MANIFEST, PAGES
    from crawler.storage.files.shards import read_records

    for entry in (place.load_json(MANIFEST) or {}).get("files", []):
        if entry["kind"] in PAGES:
            for record in read_records(place, entry["path"]):
                if record.get("crawl_id") == config.crawl.crawl_id:
                    yield record


async def _batches(records: Iterator[dict[str, Any]]) -> AsyncIterator[list[dict[str, Any]]]:
    while batch := await asyncio.to_thread(lambda: list(islice(records, BATCH))):
        yield batch


async def _adopt(frontier: Frontier, config: Config, place: Place, found: Rebuilt) -> None:
    from crawler.dataset.supersede import is_failure
    from crawler.dataset.verify import is_final
    from crawler.frontier.adopt import adopt
    from crawler.frontier.model import REOPENED, REOPENED_SECONDS
    from crawler.frontier.visits import visit_of_record

    failed = False
    async for batch in _batches(_records(config, place)):
        now = frontier.now()
        final = [record for record in batch if is_final(record.get("reason"))]
        found.finished += await adopt(
            frontier, [(_address(r), visit_of_record(r, config.frontier, now)) for r in final]
        )
        failed = failed or any(is_failure(record.get("reason")) for record in batch)
    if failed:
        await frontier.shared.put_blob(REOPENED, b"1", REOPENED_SECONDS)


def _address(record: dict[str, Any]) -> Address:
    """What the page of a record is called, and how it was asked for."""
    from crawler.frontier.visits import name_of_page
    from crawler.urls.canonicalize import Address

    name, asked = name_of_page(record), str(record["url"])
    return Address(name, "" if asked == name else asked)


# --- what was kept ---------------------------------------------------------------------------------------------------
async def _claim(config: Config, place: Place, server: str, found: Rebuilt) -> None:
    from crawler.dedup.index import DedupError
    from crawler.dedup.loading import claim_kept
    from crawler.dedup.make import make_index

    index: DedupIndex = make_index(config, server)
    try:
        await index.open()
        found.texts = await claim_kept(index, config, place)
    except DedupError as error:
        raise LostFrontierError(str(error)) from error
    finally:
        await index.close()


# --- where it led ----------------------------------------------------------------------------------------------------
async def _follow(frontier: Frontier, config: Config, place: Place, rules: Scope, found: Rebuilt) -> None:
    from crawler.dedup.loading import executor_of

    if config.frontier.depth_limit:
        log.warning("DEPTH_LIMIT: no record says how deep a page was, so links of the pages found now are not followed")
    loop = asyncio.get_running_loop()
    with executor_of(config.crawl.stage_workers) as executor:
        async for batch in _batches(_records(config, place)):
            pages = await asyncio.to_thread(lambda: [_archived(r, config, place) for r in batch])  # noqa: B023
            found.unread += sum(page is None for page in pages)
            await _put_links(frontier, config, rules, await _links(loop, executor, config, pages), found)


async def _links(
    loop: asyncio.AbstractEventLoop, executor: Executor, config: Config, pages: list[Document | None]
) -> list[tuple[str, list[str]]]:
    work = [loop.run_in_executor(executor, links_of, config, page) for page in pages if page is not None and page.html]
    redirects = (page for page in pages if page is not None and page.links and not page.html)
    targets = [(page.canonical_url, [page.links[0]]) for page in redirects]
    return targets + list(await asyncio.gather(*work))


def _archived(record: dict[str, Any], config: Config, place: Place) -> Document | None:
    """The page behind a record, with its bytes; a redirect, with its target as the only link. None: not there."""
    from crawler.dataset.pages import page_name
    from crawler.document import Document, DropReason
    from crawler.documents.from_archive import document_from_archive
    from crawler.storage.archive.reader import Archive, ArchivedResponse
    from crawler.storage.files.errors import StorageError

    if record.get("reason") == DropReason.REDIRECTED:
        return Document(record["url"], _address(record).name, links=[record.get("detail") or ""])
    if record.get("warc_file") is None or record.get("warc_offset") is None:
        return Document(url=record["url"]) if not record.get("content_hash") else None
    try:
        pages = iter(Archive(place.path_of(f"archive/{_name_of(record)}"), start=record["warc_offset"]))
        found = next((item for item in pages if isinstance(item, ArchivedResponse)), None)
    except (StorageError, OSError):
        return None
    doc = None if found is None else document_from_archive(found, config)
    return doc if doc is not None and doc.canonical_url == page_name(record) else None


def _name_of(record: dict[str, Any]) -> str:
    return str(record["warc_file"]).rpartition("/")[2]


@lru_cache(maxsize=1)
def _reader(config: Config) -> Chain:
    from crawler.stages.chain import READING, Chain

    return Chain(config, READING)


def links_of(config: Config, page: Document) -> tuple[str, list[str]]:
    """Runs in a worker process: name and links of a page, as the crawl reads them."""
    from crawler.stages.chain import READING

    page.verdict = None
    done = _reader(config).run(page, READING)
    named = [done.canonical_link] if done.canonical_link and not done.nofollow else []
    return done.canonical_url, [*named, *done.links]


async def _put_links(
    frontier: Frontier, config: Config, rules: Scope, pages: list[tuple[str, list[str]]], found: Rebuilt
) -> None:
    from crawler.frontier.model import PutStatus
    from crawler.seeds.arguments import judged
    from crawler.urls.link import Link, links_on

    depth = max(1, config.frontier.depth_limit)
    wanted: dict[str, Link] = {}
    for page, links in pages:
        if not rules.follows_links(page):
            continue
        marked = ((to, 0) for to in map(rules.address, links) if to is not None)
        for link in links_on(page, marked, depth=depth):
            named, admission = judged(rules, link, "link")
            if admission.ok:
                wanted.setdefault(named.url, named)
    answers = await frontier.put(list(wanted.values()))
    found.links += sum(answer is PutStatus.QUEUED for answer in answers)
