"""First on every request: nothing is asked that was withdrawn from this corpus, neither page nor control file.

`withdrawals.jsonl` in CORPUS_DIR says which. Read once, when the worker starts: a withdrawal needs a crawl at rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.dataset.refused import Refusals, address_of
from crawler.dataset.registry.behind import refusals_of
from crawler.frontier.model import Lease
from crawler.middlewares.outcomes import Denied
from crawler.runtime import config_of, per_crawler
from crawler.storage.files.place import Place

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.recrawl.visit import Visit


@per_crawler
def refused_in(crawler: Crawler) -> Refusals:
    """What the corpus of this crawler refuses, read once. Raises: StorageError where its list of withdrawals cannot be
    read: doubt means no.
    """
    config = config_of(crawler)
    return refusals_of([Place(config.crawl.corpus_dir, config.storage.spool_dir)])


class WithdrawnMiddleware:
    """Refuses the domains and pages that `gristmill dataset exclude` has withdrawn."""

    def __init__(self, refused: Refusals) -> None:
        self._refused = refused

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Share what the crawler has read. Raises: StorageError."""
        return cls(refused_in(crawler))

    def process_request(self, request: Request) -> None:
        """Raises: Denied."""
        if self._refused and (refusal := self._refused.refusal(request.url)):
            raise Denied(refusal.drop)
        lease = request.meta.get("lease")
        if self._refused.taken_back and isinstance(lease, Lease) and lease.visit is not None:
            self._judge_again(request, lease, lease.visit)

    def _judge_again(self, request: Request, lease: Lease, visit: Visit) -> None:
        """The frontier knows a page that had gone and was taken back: as it was then is not as it is in the corpus."""
        if address_of(lease.url) in self._refused.taken_back:
            request.meta["lease"] = replace(lease, visit=visit.reconsidered())
