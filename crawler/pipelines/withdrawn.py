"""Pipeline step `withdrawn`: what `gristmill dataset exclude` took out of this corpus does not come back.

In a crawl the middleware of the same name stops such pages before the request; this step stops them in a replay, and
pages whose licence was withdrawn. It stands before the archive, so nothing of them reaches a disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.dataset.exclude import covers, refused_domains, refused_licences
from crawler.document import Drop, DropReason
from crawler.pipelines.base import drop
from crawler.runtime import config_of
from crawler.storage.files.place import Place

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.document import Document


class WithdrawnPipeline:
    """Drops pages of withdrawn domains, and pages under a licence that was withdrawn as a whole."""

    before_stages = True  # stands before the first stage and does not read what stages write

    def __init__(self, domains: frozenset[str], licences: frozenset[str]) -> None:
        self._domains, self._licences = domains, licences

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the corpus. Raises: StorageError where its list of withdrawals cannot be read: doubt means no."""
        config = config_of(crawler)
        place = Place(config.crawl.corpus_dir, config.storage.spool_dir)
        return cls(refused_domains(place), refused_licences(place))

    def process_item(self, doc: Document) -> Document:
        """Raises: StageDrop."""
        what = "domain" if self._domains and covers(self._domains, doc.url) else ""
        what = what or ("licence" if doc.license_tag in self._licences else "")
        if what:
            doc.exchange = None
        if what and (doc.verdict is None or doc.text_allowed):
            drop(doc, Drop("policy", DropReason.WITHDRAWN, f"its {what} was withdrawn from this corpus"))
        return doc
