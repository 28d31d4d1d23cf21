"""The opt-out stage checks metas and links of the parsed page for a refusal of AI training, before any text exists.

The rules are in `crawler/policy`; this stage hands them the metas and links that ParseStage found, together with the
signals that the middlewares saw in robots.txt and headers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import ClassVar

from crawler.config import PolicyConfig
from crawler.document import Document, Drop
from crawler.policy.decide import decide_body
from crawler.policy.signals import meta_robots, x_robots_tag
from crawler.policy.signals.base import Context


class OptOutStage:
    """Drops a page that says no; marks every other page as checked, which is what lets its text touch a disk.

    A page that says nofollow keeps no links. Dates (`unavailable_after`) are compared with the time of the fetch, so
    that a replay decides as the crawl did.
    """

    name: ClassVar[str] = "optout"

    def __init__(self, config: PolicyConfig, product_token: str, clock: Callable[[], float] = time.time) -> None:
        self._profile = config.optout_profile
        self._product_token = product_token
        self._clock = clock

    def __call__(self, doc: Document) -> Document | Drop:
        """The document, or the Drop with the statement that refused; the signals stay on the document either way."""
        context = Context(self._product_token, self._profile, _fetch_time(doc.crawled_at) or self._clock())
        verdict = decide_body(
            doc.metas,
            doc.rel_links,
            product_token=context.product_token,
            profile=context.profile,
            now=context.now,
            earlier=doc.optout_signals,
            url=doc.url,
        )
        doc.optout_signals.extend(verdict.signals)
        doc.noai_checked = True
        doc.nofollow |= meta_robots.says_nofollow(doc.metas, context)
        doc.nofollow |= x_robots_tag.says_nofollow(doc.optout_signals, context)
        if doc.nofollow:
            doc.links, doc.link_marks, doc.feeds = [], b"", []
        if verdict.drop:
            return verdict.drop
        doc.text_allowed = True
        return doc


def _fetch_time(crawled_at: str) -> float | None:
    try:
        return datetime.fromisoformat(crawled_at).timestamp()
    except ValueError:
        return None
