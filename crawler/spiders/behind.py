"""At the start of a crawl: does its frontier know of as many finished pages as its corpus holds?

A frontier that lost the end of its file is a correct earlier state of itself, and nothing in it says what is missing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawler.document import Reason
from crawler.statkeys import RECRAWL

if TYPE_CHECKING:
    from crawler.config import Config
    from crawler.frontier.model import Counts
    from crawler.storage.files.place import Place
    from crawler.storage.types import Entry, Manifest

logger = logging.getLogger(__name__)


def warn_if_behind(counts: Counts, config: Config, place: Place) -> None:
    """Say that pages may be fetched a second time, where the corpus has more of them.

    Silent where the two cannot be compared: after a recrawl, a replay into the folder, and where several crawls share
    it. Raises: StorageError.
    """
    from crawler.storage.files.place import MANIFEST

    manifest: Manifest | None = place.load_json(MANIFEST)
    if manifest is None or config.frontier.recrawl or not _is_comparable(manifest, config.crawl.crawl_id):
        return
    recorded, known = finished_records(manifest["files"]), counts.done + counts.dead + counts.leased
    if recorded > known:
        logger.warning(
            "%s holds %d records of finished pages and the frontier of crawl %r knows %d: it lost its latest state, or "
            "pages were written twice. Pages may be fetched again; once the crawl has ended, `gristmill dataset verify "
            "--fix %s` leaves each of them once",
            place.url,
            recorded,
            config.crawl.crawl_id,
            known,
            place.url,
        )


def finished_records(files: list[Entry]) -> int:
    """Kept and held records, and rejected ones whose verdict is final."""
    from crawler.storage.files.place import HELD, SHARDS

    kept = sum(entry["documents"] for entry in files if entry["kind"] in (SHARDS, HELD))
    reasons = [item for entry in files if entry["kind"] == "rejected" for item in entry["reasons"].items()]
    return kept + sum(count for name, count in reasons if Reason.of(name.rpartition("/")[2]).is_final)


def _is_comparable(manifest: Manifest, crawl_id: str) -> bool:
    plain = all(run.get("kind", "crawl") == "crawl" for run in manifest["runs"])
    again = any(name.startswith(RECRAWL) for run in manifest["runs"] for name in run["counters"])
    return manifest["crawls"] == [crawl_id] and plain and not again
