"""What the runs of a corpus have spent, by its accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.budget import Spending
from crawler.storage.files.place import MANIFEST, Place

if TYPE_CHECKING:
    from crawler.config import Config


def spent_before(config: Config) -> Spending:
    """What the runs in the corpus have spent: a frontier that was lost, or never counted, does not begin at nothing.

    Hours are not among it: runs side by side count once, and a manifest has only their days.
    Raises: StorageError.
    """
    from crawler.observe.report import accounts  # late: few crawls have a budget
    from crawler.observe.report.costs import Prices

    place = Place(config.crawl.corpus_dir, config.storage.spool_dir)
    if place.load_json(MANIFEST) is None:
        return Spending()
    found = accounts.read(place, Prices.of(config.report)).whole.figures()
    fetched, kept, received = (int(found[name] or 0) for name in ("requests", "kept", "received_bytes"))
    return Spending(fetched, kept, received, float(found["cost"] or 0.0))
