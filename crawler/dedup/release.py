"""A page that changed, moved or disappeared releases its claim on its earlier text.

Otherwise another page with that text would be called the duplicate of something that is no longer there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.dedup.of_crawler import index_of
from crawler.scheduler.scheduler import frontier_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.document import Document


async def release(crawler: Crawler, doc: Document) -> None:
    """Free what `doc.former_text` stands for, where this URL still owns it; harmless when repeated.

    Where other pages were turned away for the text, they are judged again at their next visit: one of them gets it.
    """
    digest, doc.former_text = doc.former_text, b""
    index = index_of.existing(crawler)  # None where the duplicate steps are switched off
    if not digest or index is None:
        return
    turned_away = await index.release(digest, doc.canonical_url or doc.url)
    frontier = frontier_of(crawler)
    if turned_away and frontier is not None:
        await frontier.texts_freed()
