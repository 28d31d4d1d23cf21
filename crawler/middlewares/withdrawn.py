"""First on every request: nothing is asked of a domain whose pages were withdrawn from this corpus.

`withdrawals.jsonl` in CORPUS_DIR says which. Read once, when the worker starts: a withdrawal needs a crawl at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.dataset.exclude import covers, refused_domains
from crawler.document import Drop, DropReason
from crawler.middlewares.outcomes import Denied
from crawler.runtime import config_of
from crawler.storage.files.place import Place

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class WithdrawnMiddleware:
    """Refuses the domains that `gristmill dataset exclude` has withdrawn, for pages and control files alike."""

    def __init__(self, domains: frozenset[str]) -> None:
        self._domains = domains

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the corpus. Raises: StorageError where its list of withdrawals cannot be read: doubt means no."""
        config = config_of(crawler)
        return cls(refused_domains(Place(config.crawl.corpus_dir, config.storage.spool_dir)))

    def process_request(self, request: Request) -> None:
        """Raises: Denied."""
        if self._domains and covers(self._domains, request.url):
            raise Denied(Drop("policy", DropReason.WITHDRAWN, "its domain was withdrawn from this corpus"))
