"""Scrapy extension: leaves `report.html` and `stats.json` in the corpus when everything is sealed.

From the counters of the manifest and a bounded number of records, in a thread: however large the corpus, it is quick.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import signals

from crawler.runtime import config_of
from crawler.storage.files.errors import StorageError, denied

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.config import Config

logger = logging.getLogger(__name__)

SAMPLES = 10
"""Documents of each kind that the page shows."""
MOST_RECORDS = 2_000
"""Records that are read of a file to choose the samples, and of all rejected files for the clusters."""


class ReportExtension:
    """Writes the report of a crawl or a replay at its end; a worker that ends later writes it anew."""

    def __init__(self, config: Config) -> None:
        self._config = config

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the end of the crawl."""
        extension = cls(config_of(crawler))
        crawler.signals.connect(extension.closed, signals.engine_stopped)
        return extension

    async def closed(self) -> None:
        """Every file is sealed. A report that cannot be written is a warning: the corpus is whole without it."""
        try:
            await asyncio.to_thread(write_report, self._config)
        except (StorageError, OSError) as error:
            why = denied(error) if isinstance(error, PermissionError) else error
            logger.warning("no report.html: %s", why)


def write_report(config: Config) -> list[str]:
    """Write both files, each atomically; returns where they are. Raises: StorageError."""
    from crawler.observe import write as report  # at the end of a crawl, and not before its first request
    from crawler.observe.report.duplicates import Bands

    dedup = config.dedup
    bands = Bands(dedup.bands, dedup.rows, dedup.threshold)
    found = report.read(
        config.crawl.corpus_dir, samples=SAMPLES, bands=bands, most_records=MOST_RECORDS, config=config.report
    )
    return report.write(found)
