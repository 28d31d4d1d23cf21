"""What a dead worker had recorded and not acknowledged is settled when its files are found: nobody fetches it again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from crawler.dataset.verify import is_final
from crawler.frontier.adopt import adopt_waiting, reclaim
from crawler.frontier.claims import bearer_of
from crawler.frontier.visits import name_of_page, visit_of_record
from crawler.number import number_of
from crawler.storage.files.place import REJECTED, SHARDS
from crawler.storage.files.shards import read_records
from crawler.times import rfc3339

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.frontier.client import Frontier
    from crawler.storage.corpus.corpus import Corpus
    from crawler.storage.corpus.recovery import Recovered
    from crawler.storage.files.place import Place

logger = logging.getLogger(__name__)


async def settle_recovered(frontier: Frontier, config: Config, corpus: Corpus, files: Iterable[Recovered]) -> None:
    """Settle the pages that these files have a final record of, where they wait in the frontier.

    Leases of processes that have certainly ended are taken back before: they need not expire first. A page that was
    fetched before the server was started last is left to be fetched again: the server may have lost its links.
    Raises: StorageError where a file cannot be read.
    """
    for token in corpus.ended:
        if bearer := bearer_of(token):
            await reclaim(frontier, bearer)
    paths = [file.path for file in files if file.path.split("/", 1)[0] in {SHARDS, REJECTED}]
    since = await _server_started(frontier) if paths else None
    if since is None:
        return
    finished: dict[str, bytes] = {}
    for record in await asyncio.to_thread(_records, corpus.place, paths, config.crawl.crawl_id, rfc3339(since)):
        finished[name_of_page(record)] = visit_of_record(record, config.frontier, frontier.now())
    if finished and (settled := await adopt_waiting(frontier, finished)):
        logger.warning("%s that a dead worker had recorded need no second request", number_of(settled, "page"))


def _records(place: Place, paths: list[str], crawl_id: str, since: str) -> list[dict[str, Any]]:
    """Final records of this crawl that are younger than `since`, without their texts."""
    found = (record for path in paths for record in read_records(place, path))
    return [
        {**record, "text": ""}
        for record in found
        if record.get("crawl_id") == crawl_id
        and is_final(record.get("reason"))
        and (record.get("crawled_at") or "") > since
    ]


async def _server_started(frontier: Frontier) -> float | None:
    """When the frontier's server process began, a little late; None where it does not say (a cluster)."""
    connection = frontier.connection
    info = await connection.patiently(lambda: connection.redis.info("server"))
    uptime = info.get("uptime_in_seconds")
    return None if uptime is None else frontier.now() - float(uptime) + 1.0
